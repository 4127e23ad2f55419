/** What a connector's settings are after a change. Pure. */
import { X509Certificate } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import { describeFound } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import { CONNECTOR_FIELDS, FIELDS_OF_KINDS } from '#contract/sms/sms-connector-fields.ts';
import type { ConnectorToSave, StoredConnector } from '#db/tables/sms/connectors.ts';
import { parseNetwork, plainAddress } from '#lib/cidr.ts';
import { formatListenAddress } from '#lib/listen-address.ts';
import { MAX_SMS_PARTS } from '#model/limits.ts';
import {
  type CarrierAddress,
  type CarrierKind,
  CONNECTOR_DEFAULTS,
  type ConnectorKind,
  type SgipSettings,
} from '#model/sms-connector.ts';
import type { ConnectorChange } from '../wire/wire-connector.ts';
import { refuseMissing } from './refuse-missing.ts';

/** What a carrier may be silent beyond the question whether it lives: by the gateways' documents, thrice its time. */
const SILENCE_SECONDS = { smpp: 10, cmpp2: 60, cmpp3: 60, smgp: 60, sgip: 60 } as const;

/** Throws `ServiceError` if a new one lacks a setting without a default, or if its kind does not have what is given. */
export function changeConnectorSettings(
  before: StoredConnector['settings'] | undefined,
  change: ConnectorChange,
): ConnectorToSave['settings'] {
  const kind = change.kind ?? before?.kind ?? 'smpp';
  if (kind === 'loopback') return { kind };
  refuseForeign(kind, change);
  // Kinds with the same defaults have the same settings.
  const isAlike = before !== undefined && CONNECTOR_DEFAULTS[before.kind] === CONNECTOR_DEFAULTS[kind];
  const base = isAlike && before.kind !== 'loopback' ? before : undefined;
  const { tls: tlsBefore, ...rest } = base ?? {};
  const { senderType: typeBefore, ...others } = { senderType: undefined, ...rest };
  const given = Object.fromEntries(Object.entries(change.settings).filter(([, value]) => value !== undefined));
  const merged = { ...CONNECTOR_DEFAULTS[kind], ...others, ...given };
  const tls = changeTls(tlsBefore, change.tls);
  const senderType = change.senderType ?? typeBefore ?? 'byForm';
  // `as`: these are the settings of its kind.
  const settings = {
    ...merged,
    kind,
    inactivitySeconds: merged.enquireSeconds + SILENCE_SECONDS[kind],
    ...(base === undefined && { password: change.settings.password ?? '' }),
    ...(senderType !== 'byForm' && { senderType }),
    ...(tls !== undefined && { tls }),
  } as Exclude<ConnectorToSave['settings'], { kind: 'loopback' }>;
  return checked(settings);
}

type CarrierToSave = Exclude<ConnectorToSave['settings'], { kind: 'loopback' }>;

/** What a kind does not have would have no effect. */
function refuseForeign(kind: CarrierKind, { given }: ConnectorChange): void {
  const own: readonly string[] = FIELDS_OF_KINDS[kind];
  const [field] = given.filter((name) => !own.includes(name));
  if (field === undefined) return;
  // `as`: its own keys.
  const kinds = (Object.keys(FIELDS_OF_KINDS) as ConnectorKind[]).filter((other) =>
    FIELDS_OF_KINDS[other].some((name) => name === field),
  );
  const expected = {
    'zh-CN': `仅用于类型为 ${kinds.join('、')} 的通道`,
    en: `given only for connectors of kind ${kinds.join(', ')}`,
  };
  throw new ServiceError('fieldInvalid', { field, expected, found: { 'zh-CN': kind, en: kind } });
}

/** Refuses settings that are missing, or that the protocol cannot carry. */
function checked(settings: CarrierToSave): CarrierToSave {
  // `as`: settings without a default may be missing yet.
  for (const [name, field] of Object.entries(NEEDED[settings.kind]))
    if ((settings as Partial<Record<string, unknown>>)[name] === undefined) refuseMissing(CONNECTOR_FIELDS, field);
  if (settings.kind === 'smpp') return settings;
  const { account, sender, window, corpId = '', ...rest } = settings;
  const { accountOctets, corpOctets } = OCTETS[settings.kind];
  if (account.length > accountOctets) refuseLength('account', accountOctets, account);
  if (corpId.length > corpOctets) refuseLength('corp_id', corpOctets, corpId);
  if (settings.kind !== 'sgip' && settings.receipts === 'failures')
    refuse('receipts', { 'zh-CN': 'all 或 none', en: 'all or none' }, settings.receipts);
  if (settings.kind === 'sgip') checkSgip(settings);
  if (!/^\d{1,20}$/.test(sender)) refuse('sender', { 'zh-CN': '1 到 20 位数字', en: '1 to 20 digits' }, sender);
  if (window < MAX_SMS_PARTS) {
    const expected = {
      'zh-CN': `${MAX_SMS_PARTS} 到 1000 的整数：长短信的各条一起发送`,
      en: `an integer from ${MAX_SMS_PARTS} to 1000, since the parts of a long message are sent together`,
    };
    refuse('window', expected, window);
  }
  // `as`: only one of SGIP has it. Empty, it is the account, as when it is absent.
  const { gatewayAccount = '', ...others } = rest as Partial<SgipSettings>;
  const codes = { ...(corpId !== '' && { corpId }), ...(gatewayAccount !== '' && { gatewayAccount }) };
  return { ...others, account, sender, window, ...codes } as CarrierToSave;
}

/** Settings without a default, and their fields. */
const GATEWAY_NEEDS = { host: 'host', port: 'port', account: 'account', sender: 'sender' } as const;
const NEEDED = {
  smpp: { host: 'host', port: 'port', systemId: 'system_id' },
  cmpp2: GATEWAY_NEEDS,
  cmpp3: GATEWAY_NEEDS,
  smgp: GATEWAY_NEEDS,
  sgip: { ...GATEWAY_NEEDS, corpId: 'corp_id', node: 'node', listen: 'listen', allow: 'allow' },
} as const satisfies Readonly<Record<CarrierKind, Readonly<Record<string, keyof typeof CONNECTOR_FIELDS>>>>;

/** Octets of the fields on the wire. */
const OCTETS = {
  cmpp2: { accountOctets: 6, corpOctets: 6 },
  cmpp3: { accountOctets: 6, corpOctets: 6 },
  smgp: { accountOctets: 8, corpOctets: 8 },
  sgip: { accountOctets: 16, corpOctets: 5 },
} as const;

function checkSgip(settings: Extract<CarrierToSave, { kind: 'sgip' }>): void {
  const { corpId, allow, feeType, listen } = settings;
  // Without one everybody at these addresses could bind. Absent: the stored one stays.
  if ('password' in settings && settings.password === '') refuseMissing(CONNECTOR_FIELDS, 'password');
  if (corpId === '') refuse('corp_id', { 'zh-CN': '1 到 5 个字符', en: '1 to 5 characters' }, corpId);
  if (!/^\d+$/.test(feeType)) refuse('fee_type', { 'zh-CN': '0 到 99 的整数', en: 'a number from 0 to 99' }, feeType);
  if (allow.length === 0) refuse('allow', CONNECTOR_FIELDS.allow.expects, '');
  const wrong = allow.find((it) => parseNetwork(it) === undefined);
  if (wrong !== undefined) refuse('allow', CONNECTOR_FIELDS.allow.expects, wrong);
  if (plainAddress(listen.host) === undefined || listen.port > 65_535)
    refuse('listen', CONNECTOR_FIELDS.listen.expects, formatListenAddress(listen));
}

function refuseLength(field: string, octets: number, found: string): never {
  const expected = { 'zh-CN': `至多 ${octets} 个字符`, en: `at most ${octets} characters` };
  return refuse(field, expected, found);
}

function refuse(field: string, expected: Localized, found: unknown): never {
  throw new ServiceError('fieldInvalid', { field, expected, found: describeFound(found) });
}

/** An empty text takes the value away. */
function changeTls(
  before: CarrierAddress['tls'],
  { isOn, ca, serverName }: ConnectorChange['tls'],
): CarrierAddress['tls'] {
  if (!(isOn ?? before !== undefined)) return undefined;
  if (ca !== undefined && ca !== '' && !isCertificate(ca)) refuse('tls_ca', CONNECTOR_FIELDS.tls_ca.expects, ca);
  const authority = ca ?? before?.ca ?? '';
  const name = serverName ?? before?.serverName ?? '';
  return { ...(authority !== '' && { ca: authority }), ...(name !== '' && { serverName: name }) };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).fingerprint256 !== '';
  } catch {
    return false; // whatever is wrong with it
  }
}
