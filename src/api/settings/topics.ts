/**
 * What each topic of a domain's settings becomes by a request of its operation, given what is there. The operation and
 * `domain.change` both come here. docs/decisions/0625
 */
import type { Transaction } from 'kysely';
import type { SettingTopic, TOPIC_OPERATIONS } from '#contract/changes/setting-topics.ts';
import { WIRE_DENY_LISTS } from '#contract/domains/deny-lists.ts';
import { REDIRECT_TARGET } from '#contract/domains/rule-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { Field } from '#contract/schema/fields.ts';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { keepRecordings } from '#db/tables/live/recordings.ts';
import type { DenyList, Domain, DomainSettings } from '#model/domain.ts';
import { findRedirectLoop } from '#sites/redirects.ts';
import type { InputOf } from '../wire/wire.ts';
import { refuseEntry } from '../wire/wire-rules.ts';
import { chooseCertificates } from './choose-certificates.ts';
import { refuseNotLive } from './live-changes.ts';
import { refuseMissing } from './refuse-missing.ts';
import { urlKeysAfter } from './url-keys.ts';

export type TopicInput<T extends SettingTopic> = InputOf<(typeof TOPIC_OPERATIONS)[T]>;

/** What a change of settings needs besides the domain. */
export interface TopicContext {
  readonly now: number;
  readonly keyring: Keyring;
}

/** Throws `ServiceError`. */
type Merge<T extends SettingTopic> = (
  domain: Domain,
  input: TopicInput<T>,
  trx: Transaction<Schema>,
  context: TopicContext,
) => DomainSettings | Promise<DomainSettings>;

/** Members that are `undefined` in the input stay as they are. */
export const MERGE_TOPICS: { readonly [T in SettingTopic]: Merge<T> } = {
  origin: ({ type, settings }, chosen) => {
    const changed = {
      ...settings,
      origins: chosen.origins,
      backups: chosen.backups ?? settings.backups,
      originProtocol: chosen.originProtocol ?? settings.originProtocol,
      originHost: chosen.originHost ?? settings.originHost,
      monitorUrl: chosen.monitorUrl ?? settings.monitorUrl,
    };
    refuseMissingOrigins(type, changed);
    return changed;
  },

  advanced: ({ settings }, { plain, domainId: _id, ...chosen }) => {
    const html403 = chosen.html403 ?? settings.html403;
    // docs/decisions/0100
    if (chosen.forbidHttpCode === '403' && html403 === '')
      refuseMissing(OPERATIONS['config.setAdvanced'].request.fields, 'html_403');
    return {
      ...settings,
      ...plain,
      ...chosen,
      forbidRedirectUrl: chosen.forbidRedirectUrl ?? settings.forbidRedirectUrl,
      html403,
    };
  },

  policies: ({ settings }, { caching }) => ({ ...settings, caching }),

  cache: ({ settings }, { chosen }) => ({ ...settings, cache: { ...settings.cache, ...chosen } }),

  referer: ({ settings }, { mode, allowsBlank, entries }) => {
    const { referer } = settings;
    const { fields } = OPERATIONS['config.setReferer'].request;
    if (mode !== 'off' && referer.entries.length === 0) {
      if (allowsBlank === undefined) refuseMissing(fields, 'referer_blank');
      if (entries === undefined) refuseMissing(fields, 'referer_str');
    }
    const chosen = { mode, allowsBlank: allowsBlank ?? referer.allowsBlank, entries: entries ?? referer.entries };
    return { ...settings, referer: chosen };
  },

  ua: (domain, input) => changeDenyList(domain, 'userAgent', input),
  ip: (domain, input) => changeDenyList(domain, 'ip', input),

  address_lists: ({ settings }, { denied, allowed }) => {
    const { addressLists } = settings;
    const chosen = { denied: denied ?? addressLists.denied, allowed: allowed ?? addressLists.allowed };
    return { ...settings, addressLists: chosen };
  },

  rate_limits: ({ settings }, { rateLimits }) => ({ ...settings, rateLimits }),

  redirects: ({ name, settings }, { redirects }) => {
    const loop = findRedirectLoop(redirects, name);
    if (loop !== undefined)
      refuseEntry(`redirects[${loop}][target]`, REDIRECT_TARGET, redirects[loop]?.target ?? '', LOOP);
    return { ...settings, redirects };
  },

  headers: ({ settings }, { responseHeaders }) => ({ ...settings, responseHeaders }),

  /** The keys are no settings: `url-keys.ts` saves those that the operation brings. */
  signing: async ({ id, settings }, { isOn, validSeconds, paths, ...keys }, trx, { keyring }) => {
    const { signing } = settings;
    if (isOn && (await urlKeysAfter(trx, keyring, { ...keys, domainId: id })).length === 0)
      refuseMissing(OPERATIONS['config.setUrlSigning'].request.fields, 'primary_key');
    const chosen = { isOn, validSeconds: validSeconds ?? signing.validSeconds, paths: paths ?? signing.paths };
    return { ...settings, signing: chosen };
  },

  ssl: async (domain, { isOn, chosen, ...wanted }, trx, { now }) => {
    const { settings } = domain;
    const https = { ...settings.https, ...chosen };
    if (!isOn) return { ...settings, https, sslControl: false, sslKey: '', secondSslKey: '' };
    return { ...settings, https, sslControl: true, ...(await chooseCertificates(trx, domain, wanted, now)) };
  },

  recording: async (domain, { isOn, days }, trx) => {
    refuseNotLive(domain);
    const recording = { isOn, days: days ?? domain.settings.recording.days };
    await keepRecordings(trx, domain.id, recording.days);
    return { ...domain.settings, recording };
  },
};

const LOOP = 'is redirected back to where it came from';

/** A live domain may be fed by its encoders alone; every other type has something to fetch. */
export function refuseMissingOrigins(type: string, settings: Pick<DomainSettings, 'origins'>): void {
  if (type !== 'live' && settings.origins.length === 0) throw new ServiceError('originsMissing');
}

/** A list that is on has entries. */
function changeDenyList(
  { settings }: Domain,
  list: DenyList,
  { isOn, entries }: { readonly isOn: boolean; readonly entries: readonly string[] | undefined },
): DomainSettings {
  const row: { readonly list: string; readonly entries: Field } = WIRE_DENY_LISTS[list];
  const chosen = { isOn, entries: entries ?? settings[list].entries };
  if (isOn && chosen.entries.length === 0) refuseMissing({ [row.list]: row.entries }, row.list);
  return { ...settings, [list]: chosen };
}
