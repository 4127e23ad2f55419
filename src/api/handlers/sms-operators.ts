/** The `/operator/*` operations of SMS: apps, money, connectors and routes. */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { quote } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import { SMS_OPERATOR_OPERATIONS } from '#contract/sms/sms-operator-operations.ts';
import type { Db } from '#db/open.ts';
import type { Executor } from '#db/schema/schema.ts';
import { type Keyring, KeyringError } from '#db/secrets/keyring.ts';
import { listCustomerIds } from '#db/tables/accounts.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { createSmsApp, listSmsApps } from '#db/tables/sms/apps.ts';
import {
  listSmsLedger,
  listSmsPrices,
  type Recharge,
  readSmsBalance,
  rechargeSms,
  type SmsPrice,
  saveSmsPrice,
} from '#db/tables/sms/balance.ts';
import {
  deleteConnector,
  hasPartsUnderWay,
  listConnectors,
  listRoutes,
  lockConnectors,
  openSettings,
  type StoredConnector,
  type StoredRoute,
  saveConnector,
  saveRoute,
} from '#db/tables/sms/connectors.ts';
import { addOptOuts, removeOptOuts } from '#db/tables/sms/opt-outs.ts';
import { listUnread } from '#db/tables/sms/unread.ts';
import { systemTimers } from '#lib/timers.ts';
import { connectCarrier } from '#sms/connectors/connect.ts';
import { probeConnector } from '#sms/probe-connector.ts';
import { changeConnectorSettings } from '../settings/change-connector.ts';
import { refuseMissing } from '../settings/refuse-missing.ts';
import { connectorRevision, refuseOtherRevision, routeRevision } from '../sms/sms-revisions.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Handler } from './handler.ts';
import { pageOfOptOuts } from './opt-outs.ts';
import { SMS_STATE_HANDLERS } from './sms-connector-states.ts';

/** 128 bits, which cannot be guessed. */
const APP_KEY_BYTES = 16;
/** Opt-outs of everybody. */
const EVERYBODY = 0;
const PROBE_LIMIT_MS = 15_000;

export const SMS_OPERATOR_HANDLERS = {
  'smsOperator.createApp': async ({ db, now }, { accountId, name, balance: opening }) => {
    const owner = accountId ?? (await findOnlyCustomer(db));
    const { kind } = await findAccountOrRefuse(db, owner);
    if (kind !== 'customer') throw new ServiceError('accountNotCustomer', { accountId: owner });
    return await db.transaction(async (trx) => {
      const appKey = `sms_${randomBytes(APP_KEY_BYTES).toString('base64url')}`;
      const app = await createSmsApp(trx, { accountId: owner, appKey, name, now });
      const balance = balanceOrRefuse(await rechargeSms(trx, { accountId: owner, amount: opening, now }));
      const target = { kind: 'app', id: appKey, name } as const;
      noteChanges(trx, [{ accountId: owner, target, before: {}, after: { balance } }]);
      return { app, balance };
    });
  },

  'smsOperator.listApps': async ({ db }, filter) => {
    if (filter.accountId !== undefined) await findAccountOrRefuse(db, filter.accountId);
    return await listSmsApps(db.query, filter);
  },

  'smsOperator.recharge': async ({ db, now }, { accountId, amount, reference }) => {
    const { kind } = await findAccountOrRefuse(db, accountId);
    if (kind !== 'customer') throw new ServiceError('accountNotCustomer', { accountId });
    const recharge = { accountId, amount, now, ...(reference !== undefined && { reference }) };
    return await db.transaction(async (trx) => balanceOrRefuse(await rechargeSms(trx, recharge)));
  },

  'smsOperator.listLedger': async ({ db }, { accountId, before, limit }) => {
    await findAccountOrRefuse(db, accountId);
    const entries = await listSmsLedger(db.query, { accountId, before, limit });
    return { balance: await readSmsBalance(db.query, accountId), entries };
  },

  'smsOperator.setPrice': async ({ db }, price) => {
    // Nothing would be left for other numbers, which were sent to for nothing then.
    if (price.price === undefined && price.prefix === '')
      refuseMissing(SMS_OPERATOR_OPERATIONS['smsOperator.setPrice'].request.fields, 'price');
    await db.transaction(async (trx) => {
      const isTheSame = (other: SmsPrice) => other.kind === price.kind && other.prefix === price.prefix;
      if (price.price === undefined && !(await listSmsPrices(trx)).some(isTheSame))
        throw new ServiceError('smsPriceNotFound', { kind: price.kind, prefix: price.prefix });
      await saveSmsPrice(trx, price);
    });
    return undefined;
  },

  'smsOperator.listPrices': ({ db }) => listSmsPrices(db.query),

  'smsOperator.setConnector': async ({ db, now, sms, ifRevision }, change) => {
    await db.transaction(async (trx) => {
      await lockConnectors(trx);
      const before = await findConnector(trx, change.name);
      const name = JSON.stringify(change.name);
      const what = { 'zh-CN': `通道 ${name} `, en: `connector ${name}` };
      refuseOtherRevision(what, connectorRevision(before), ifRevision);
      const partsPerSecond = change.partsPerSecond ?? before?.partsPerSecond ?? 0;
      const connector = {
        name: change.name,
        enabled: change.enabled ?? before?.enabled ?? true,
        settings: changeConnectorSettings(before?.settings, change),
        ...(partsPerSecond > 0 && { partsPerSecond }),
      };
      await saveConnector(trx, sms.ring, connector, now);
    });
    await sms.noteConnectors();
    return undefined;
  },

  'smsOperator.listConnectors': ({ db }) => listConnectors(db.query),

  'smsOperator.testConnector': async ({ db, sms: { ring, log } }, { name }) => {
    const connector = await findConnectorOrRefuse(db.query, name);
    const settings = openOrTell(ring, connector);
    if (settings.kind === 'locked') return { isBound: false, detail: settings.reason };
    const tools = { log: log.child({ connector: name }), timers: systemTimers, clock: db.clock, random: Math.random };
    const probe = await probeConnector(settings, connectCarrier, tools, PROBE_LIMIT_MS);
    if (probe.kind === 'failed') return { isBound: false, detail: probe.reason };
    return { isBound: true, detail: settings.kind === 'loopback' ? 'it reaches no carrier, and simulates' : '' };
  },

  'smsOperator.deleteConnector': async ({ db, sms }, { name }) => {
    await db.transaction(async (trx) => {
      await lockConnectors(trx);
      const { id } = await findConnectorOrRefuse(trx, name);
      const routes = (await listRoutes(trx)).filter(({ connectorIds }) => connectorIds.includes(id));
      if (routes.length > 0) throw connectorInUse(name, inRoutes(routes));
      if (await hasPartsUnderWay(trx, id)) throw connectorInUse(name, PARTS_UNDER_WAY);
      await deleteConnector(trx, id);
    });
    await sms.noteConnectors();
    return undefined;
  },

  'smsOperator.setRoute': async ({ db, sms, ifRevision }, { prefix, connectors }) => {
    await db.transaction(async (trx) => {
      await lockConnectors(trx);
      const connectorIds: number[] = [];
      const before = (await listRoutes(trx)).find((route) => route.prefix === prefix);
      const name = JSON.stringify(prefix);
      const what = { 'zh-CN': `前缀 ${name} 的路由`, en: `the route of the prefix ${name}` };
      refuseOtherRevision(what, routeRevision(before), ifRevision);
      if (connectors.length === 0 && before === undefined)
        throw new ServiceError('smsRouteNotFound', { prefix: quote(prefix) });
      for (const name of connectors) connectorIds.push((await findConnectorOrRefuse(trx, name)).id);
      await saveRoute(trx, { prefix, connectorIds });
    });
    await sms.noteConnectors();
    return undefined;
  },

  'smsOperator.listRoutes': async ({ db }) => {
    const names = new Map((await listConnectors(db.query)).map(({ id, name }) => [id, name]));
    const routes = await listRoutes(db.query);
    return routes.map((route) => ({
      prefix: route.prefix,
      connectors: route.connectorIds.map((id) => names.get(id) ?? ''),
      revision: routeRevision(route),
    }));
  },

  'smsOperator.listUnread': async ({ db }, { before, limit }) => {
    const list = await listUnread(db.query, { before, limit });
    return { list, next: list.length < limit ? '' : String(list.at(-1)?.id ?? '') };
  },

  'smsOperator.setOptOuts': async ({ db, now }, { numbers, isOptedOut }) => {
    const optOuts = { accountId: EVERYBODY, numbers };
    if (!isOptedOut) return (await db.transaction((trx) => removeOptOuts(trx, optOuts))) > 0;
    await db.transaction((trx) => addOptOuts(trx, optOuts, now));
    return true;
  },

  'smsOperator.getOptOuts': ({ db }, page) => pageOfOptOuts(db.query, EVERYBODY, page),

  ...SMS_STATE_HANDLERS,
} satisfies { readonly [N in RouteName as N extends `smsOperator.${string}` ? N : never]: Handler<N> };

function balanceOrRefuse(recharge: Recharge): number {
  if (recharge.kind === 'recharged') return recharge.balance;
  if (recharge.kind === 'tooMuch') throw new ServiceError('rechargeRefused');
  throw new ServiceError('rechargeRepeated', { amount: recharge.amount });
}

async function findOnlyCustomer(db: Db): Promise<number> {
  const [only, another] = await listCustomerIds(db.query, 2);
  if (only === undefined || another !== undefined) throw new ServiceError('accountNotNamed');
  return only;
}

async function findConnector(x: Executor, name: string): Promise<StoredConnector | undefined> {
  return (await listConnectors(x)).find((connector) => connector.name === name);
}

async function findConnectorOrRefuse(x: Executor, name: string): Promise<StoredConnector> {
  const connector = await findConnector(x, name);
  if (connector === undefined) throw new ServiceError('connectorNotFound', { name: quote(name) });
  return connector;
}

function connectorInUse(name: string, reason: Localized): ServiceError {
  return new ServiceError('connectorInUse', { name: quote(name), reason });
}

/** Receipts are found by the connector that brings them. docs/decisions/0394 */
const PARTS_UNDER_WAY: Localized = {
  'zh-CN': '它已接收的短信还没有全部得到结果，请稍后再试',
  en: 'parts that it has taken have not come to an end, so try again later',
};

function inRoutes(routes: readonly StoredRoute[]): Localized {
  const zh = routes.map(({ prefix }) => (prefix === '' ? '其他所有号码' : prefix)).join('、');
  const en = routes.map(({ prefix }) => (prefix === '' ? 'of all other numbers' : `of ${prefix}`)).join(', ');
  return { 'zh-CN': `有路由使用它（${zh}），请先修改`, en: `routes use it (${en}): change those first` };
}

function openOrTell(ring: Keyring, connector: StoredConnector) {
  try {
    return openSettings(ring, connector);
  } catch (error) {
    if (error instanceof KeyringError) return { kind: 'locked' as const, reason: error.message };
    throw error;
  }
}
