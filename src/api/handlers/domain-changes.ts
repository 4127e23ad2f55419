/** Changes of any settings of a domain at once, and its earlier revisions. docs/decisions/0624, 0625 */
import type { Transaction } from 'kysely';
import type { SettingsToChange } from '#contract/changes/setting-topics.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { findCertificate } from '#db/tables/certificates.ts';
import { findRevision, listRevisions } from '#db/tables/domain-revisions.ts';
import { DEFAULT_SETTINGS, type Domain } from '#model/domain.ts';
import { changeTopics } from '../settings/change-topics.ts';
import { compareTopics, type SettingChange, writeTopics } from '../wire/wire-topics.ts';
import { certificateWarnings } from './certificates.ts';
import type { Call, Handler } from './handler.ts';
import { originWarningsOf } from './origin-warnings-of.ts';
import { readOwnDomain } from './own-domain.ts';

export const DOMAIN_CHANGE_HANDLERS = {
  'domain.settings': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    const made = await findRevision(call.db.query, { domainId, revision: domain.settingRevision });
    const defaults = writeTopics({ ...domain, settings: DEFAULT_SETTINGS });
    return { domain, made, settings: writeTopics(domain), defaults };
  },

  'domain.change': async (call, { domainId, set, isDryRun }) => await change(call, domainId, isDryRun, () => set),

  'domain.listRevisions': async (call, { domainId, before, limit }) => {
    const { accountId } = await readOwnDomain(call, domainId);
    const revisions = await listRevisions(call.db.query, { domainId, before, limit });
    const next = revisions.length < limit ? '' : String(revisions.at(-1)?.revision ?? '');
    return { accountId, revisions, next };
  },

  'domain.getRevision': async (call, { domainId, revision }) => {
    const domain = await readOwnDomain(call, domainId);
    const made = await findRevisionOrRefuse(call.db.query, domainId, revision);
    return { domain, made, settings: writeTopics({ ...domain, settings: made.settings }) };
  },

  'domain.compare': async (call, { domainId, from, to }) => {
    const domain = await readOwnDomain(call, domainId);
    const older = await settingsAt(call.db.query, domain, from);
    return compareTopics(older, to === undefined ? writeTopics(domain) : await settingsAt(call.db.query, domain, to));
  },

  'domain.revert': async (call, { domainId, to, names, isDryRun }) => {
    let leftOut: readonly SettingChange[] = [];
    const changed = await change(call, domainId, isDryRun, async (domain, trx) => {
      const differing = compareTopics(writeTopics(domain), await settingsAt(trx, domain, to));
      const asked = differing.filter(
        ({ topic, name }) => names === undefined || names.includes(topic) || names.includes(`${topic}.${name}`),
      );
      leftOut = await findGone(trx, domain, asked);
      return setBack(asked.filter((one) => !leftOut.includes(one)));
    });
    return { ...changed, leftOut };
  },
} satisfies { readonly [N in RouteName as N extends DomainChangeRoute ? N : never]: Handler<N> };

type DomainChangeRoute =
  | 'domain.settings'
  | 'domain.change'
  | 'domain.listRevisions'
  | 'domain.getRevision'
  | 'domain.compare'
  | 'domain.revert';

/** Changes the settings that `choose` returns, or only tries to. */
export async function change(
  call: Call,
  domainId: number,
  isDryRun: boolean,
  choose: (domain: Domain, trx: Transaction<Schema>) => SettingsToChange | Promise<SettingsToChange>,
) {
  let set: SettingsToChange = {};
  const { before, after } = await changeTopics(call, domainId, isDryRun, async (domain, trx) => {
    set = await choose(domain, trx);
    return set;
  });
  return {
    revision: isDryRun ? before.settingRevision : after.settingRevision,
    changes: compareTopics(writeTopics(before), writeTopics(after)),
    originWarnings: set.origin === undefined ? [] : await originWarningsOf(call, after),
    certificateWarnings: set.ssl === undefined ? [] : await certificateWarnings(call, after.settings),
  };
}

async function settingsAt(x: Executor, domain: Domain, revision: number) {
  const { settings } = await findRevisionOrRefuse(x, domain.id, revision);
  return writeTopics({ ...domain, settings });
}

async function findRevisionOrRefuse(x: Executor, domainId: number, revision: number) {
  const found = await findRevision(x, { domainId, revision });
  if (found === undefined) throw new ServiceError('domainRevisionNotFound', { domainId, revision });
  return found;
}

function setBack(changes: readonly SettingChange[]): SettingsToChange {
  const topics = Map.groupBy(changes, ({ topic }) => topic);
  return Object.fromEntries(
    [...topics].map(([topic, all]) => [topic, Object.fromEntries(all.map(({ name, after }) => [name, after]))]),
  );
}

/** Settings that cannot be set back, as their certificate was deleted; without its first one, a domain has no HTTPS. */
async function findGone(
  x: Executor,
  { accountId }: Domain,
  asked: readonly SettingChange[],
): Promise<readonly SettingChange[]> {
  const gone: string[] = [];
  for (const { topic, name, after } of asked) {
    if (topic !== 'ssl' || (name !== 'ssl_key' && name !== 'ssl_key_second') || after === '') continue;
    const found = await findCertificate(x, { accountId, key: String(after) });
    if (found === undefined) gone.push(name, ...(name === 'ssl_key' ? ['ssl_control', 'ssl_key_second'] : []));
  }
  return asked.filter(({ topic, name }) => topic === 'ssl' && gone.includes(name));
}
