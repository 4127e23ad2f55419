/** Refuses a change that is based on outdated settings, with the current ones in the error. docs/decisions/0446 */
import { byOperation, operationOf } from '#contract/domains/deny-lists.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { quote } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import { WIRE_CACHE_SETTINGS } from '#contract/settings/settings.ts';
import type { AuditEvent } from '#model/audit.ts';
import { type Domain, eachDenyList } from '#model/domain.ts';
import { WRITE_ACCESS } from '../wire/wire-access.ts';
import { WRITE_ADDRESS_LISTS } from '../wire/wire-address-lists.ts';
import { writeAdvanced } from '../wire/wire-advanced.ts';
import { writeActor } from '../wire/wire-audit.ts';
import { writeSsl } from '../wire/wire-certificate.ts';
import { type Look, writeDomain } from '../wire/wire-domain.ts';
import { writePolicies } from '../wire/wire-policy.ts';
import { WRITE_RECORDINGS } from '../wire/wire-recordings.ts';
import { WRITE_RULES, writeSigning } from '../wire/wire-rules.ts';
import { writeTopics } from '../wire/wire-topics.ts';
import type { StaleRevision } from './change.ts';

/** Longest text of the current settings in an answer's `info`; a domain may have a hundred policies. */
const MAX_CURRENT_CHARS = 4096;

/** Operations that change the settings of a domain and take `if_revision`. */
export type DomainChange = {
  [N in RouteName]: 'if_revision' extends FieldOf<N> ? Exclude<N, `smsOperator.${string}`> : never;
}[RouteName];

/** An operation without fields has all names by its type. */
type FieldOf<N extends RouteName> = string extends keyof RequestOf<N> ? never : keyof RequestOf<N>;

type Writer = (domain: Domain, look: Look) => unknown;

const writeAll: Writer = (domain) => writeTopics(domain);

const writeOrigin: Writer = (domain, look) => {
  const { origin, backup, source_type, sourcehost, remark } = writeDomain({ domain, isInForce: true }, look);
  return { origin, backup, source_type, sourcehost, remark, state: domain.state };
};

const DENY_LISTS = eachDenyList((list) => ({ current: withoutRevision(WRITE_ACCESS[operationOf('get', list)]) }));

/** What each would have changed, as the operation that reads it answers. */
const CURRENT: Readonly<Record<DomainChange, Writer>> = {
  'domain.updateOrigin': writeOrigin,
  'domain.change': writeAll,
  'domain.revert': writeAll,
  'domain.setRemark': writeOrigin,
  'domain.setStatus': writeOrigin,
  'domain.delete': writeOrigin,
  'config.setPolicies': ({ settings }) => writePolicies(settings.caching),
  'config.setAdvanced': ({ settings }) => writeAdvanced(settings),
  'config.setReferer': withoutRevision(WRITE_ACCESS['config.getReferer']),
  ...byOperation('set', DENY_LISTS, 'current'),
  'config.setCacheOptions': ({ settings }) => WIRE_CACHE_SETTINGS.write(settings.cache),
  'config.setAddressLists': withoutRevision(WRITE_ADDRESS_LISTS['config.getAddressLists']),
  'config.setRateLimits': withoutRevision(WRITE_RULES['config.getRateLimits']),
  'config.setRedirects': withoutRevision(WRITE_RULES['config.getRedirects']),
  'config.setResponseHeaders': withoutRevision(WRITE_RULES['config.getResponseHeaders']),
  'config.setUrlSigning': writeSigning,
  'config.setSsl': ({ settings }) => writeSsl(settings),
  'config.requestCertificate': ({ settings }) => writeSsl(settings),
  'live.setRecording': (domain) => {
    const { record, keep_days } = WRITE_RECORDINGS['live.getRecording'](domain);
    return { record, keep_days };
  },
};

function withoutRevision(write: (domain: Domain) => Readonly<Record<string, unknown>>): Writer {
  return (domain) => {
    const { revision: _revision, ...rule } = write(domain);
    return rule;
  };
}

export function isDomainChange(name: RouteName): name is DomainChange {
  return Object.hasOwn(CURRENT, name);
}

/** `name`: the operation that was refused. */
export function refuseStale(name: DomainChange, { domain, given, event }: StaleRevision, look: Look): ServiceError {
  const text = JSON.stringify(CURRENT[name](domain, look));
  const current = text.length > MAX_CURRENT_CHARS ? `${text.slice(0, MAX_CURRENT_CHARS).toWellFormed()}…` : text;
  const { id: domainId, settingRevision: revision, accountId } = domain;
  const changed = describeEvent(event, accountId);
  return new ServiceError('revisionChanged', { domainId, given, revision, changed, current });
}

/** Completes "their revision is 18, not 17"; empty if nothing is known. `viewer`: the account that owns the domain. */
function describeEvent(event: AuditEvent | undefined, viewer: number): Localized {
  if (event === undefined) return { 'zh-CN': '', en: '' };
  const time = new Date(event.at).toISOString();
  const { actor, actor_name } = writeActor(event.actor, viewer);
  const who = WHO[actor];
  const name = actor_name === '' ? '' : ` ${quote(actor_name)}`;
  return { 'zh-CN': `（由${who['zh-CN']}${name}于 ${time} 修改）`, en: ` (changed by ${who.en}${name} at ${time})` };
}

const WHO: Readonly<Record<ReturnType<typeof writeActor>['actor'], Localized>> = {
  token: { 'zh-CN': '令牌', en: 'token' },
  person: { 'zh-CN': '成员', en: 'the member' },
  local: { 'zh-CN': '运营方', en: 'the operator' },
  operator: { 'zh-CN': '运营方', en: 'the operator' },
  service: { 'zh-CN': '本服务', en: 'the service' },
};
