/**
 * The border between the wire's names and the model's: each operation's request as its handler gets it (`READ`), and each
 * handler's result as it is answered (`WRITE`). A missing entry does not compile, see `writers.ts`.
 */

import { describeOriginWarning } from '#contract/domains/origin-warnings.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';

import { WIRE_CACHE_SETTINGS } from '#contract/settings/settings.ts';
import type { Rotation } from '#db/rotation/sealed-secrets.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { Account, Token } from '#model/account.ts';
import type { Domain } from '#model/domain.ts';
import type { OriginWarning } from './origin-warnings.ts';
import { READ_ACCESS, WRITE_ACCESS } from './wire-access.ts';
import { READ_ADDRESS_LISTS, WRITE_ADDRESS_LISTS } from './wire-address-lists.ts';
import { readAdvanced, writeAdvanced } from './wire-advanced.ts';
import { READ_AUDIT, WRITE_AUDIT } from './wire-audit.ts';
import { READ_BANDWIDTH, WRITE_BANDWIDTH } from './wire-bandwidth.ts';
import { READ_BULK, WRITE_BULK } from './wire-bulk.ts';
import { readPrefetch, readPurge, readTaskPage, type TaskView, writeTask, writeTaskPage } from './wire-cache.ts';
import {
  noteSslWarnings,
  readNewCertificate,
  readSsl,
  type SslWarnings,
  writeAddedCertificate,
  writeCertificateDetail,
  writeCertificatePage,
  writeCertificateWarnings,
  writeSsl,
} from './wire-certificate.ts';
import { writeCertificateRequest } from './wire-certificate-request.ts';
import { readProbe, readQuestion, writeCheck, writeOriginCheck } from './wire-checks.ts';
import { READ_DESK, WRITE_DESK } from './wire-desk.ts';
import {
  type DomainView,
  type Look,
  readDomainName,
  readNameFilter,
  readOrigins,
  readProtocol,
  readSourceHost,
  readType,
  writeDomain,
  writeDomainRow,
  writeWarnings,
} from './wire-domain.ts';
import { READ_DOMAIN_CHANGES, WRITE_DOMAIN_CHANGES } from './wire-domain-changes.ts';
import { READ_DOMAIN_VIEWS, WRITE_DOMAIN_VIEWS } from './wire-domain-views.ts';
import { READ_EDGES, WRITE_EDGES } from './wire-edges.ts';
import { READ_EVENTS, WRITE_EVENTS } from './wire-events.ts';
import { READ_FLEET, WRITE_FLEET } from './wire-fleet.ts';
import { READ_GROUPS, WRITE_GROUPS } from './wire-group.ts';
import { readLimits, writeLimits } from './wire-limits.ts';
import { READ_LIVE, WRITE_LIVE } from './wire-live.ts';
import { READ_LOG_SEARCH, WRITE_LOG_SEARCH } from './wire-log-search.ts';
import { PEOPLE_COOKIES, READ_PEOPLE, WRITE_PEOPLE } from './wire-people.ts';
import { readPolicies, writePolicies } from './wire-policy.ts';
import { READ_RULES, WRITE_RULES } from './wire-rules.ts';
import { READ_SERIES, WRITE_SERIES } from './wire-series.ts';
import { READ_SESSIONS, SESSION_COOKIES, WRITE_SESSIONS } from './wire-session.ts';
import { READ_SINKS, WRITE_SINKS } from './wire-sinks.ts';
import { READ_SMS, WRITE_SMS } from './wire-sms.ts';
import { READ_SMS_OPERATOR, WRITE_SMS_OPERATOR } from './wire-sms-operator.ts';
import { readTail, writeTail } from './wire-tail.ts';
import { READ_TOKENS, readNewToken, WRITE_TOKENS, writeMadeToken, writeToken } from './wire-token.ts';
import { readLogs, readSums, readTop, writeLogs, writeRequests, writeTop, writeTraffic } from './wire-traffic.ts';
import { readDomainId, readPage, writeRevision } from './wire-values.ts';
import { READ_WATCH, WRITE_WATCH } from './wire-watch.ts';
import type { Writers } from './writers.ts';

interface ChangedOrigins {
  readonly warnings: readonly OriginWarning[];
}

interface AddedDomain extends ChangedOrigins {
  /** Absent: adding it was only tried. */
  readonly domain?: Domain | undefined;
}

interface DomainPage {
  readonly total: number;
  readonly views: readonly DomainView[];
}

/** Throw `ServiceError` for what only the model can tell to be wrong. */
export const READ = {
  'domain.get': readDomainId,
  'domain.add': (request) => ({
    name: readDomainName(request.domain).name,
    type: readType(request.cdn_type),
    icpNumber: request.icp_no ?? '',
    remark: request.remark ?? '',
    origins: readOrigins('data', request.data ?? []),
    backups: readOrigins('backup', request.backup ?? []),
    originProtocol: readProtocol(request.source_type ?? ''),
    originHost: readSourceHost(request.sourcehost ?? ''),
    monitorUrl: request.monitor_url ?? '',
    set: request.set ?? {},
    isDryRun: request.dry_run ?? false,
  }),
  /** What is `undefined` stays as it is. */
  'domain.updateOrigin': (request) => ({
    domainId: request.domain_id,
    origins: readOrigins('data', request.data),
    backups: request.backup && readOrigins('backup', request.backup),
    originProtocol: request.source_type === undefined ? undefined : readProtocol(request.source_type),
    originHost: request.sourcehost === undefined ? undefined : readSourceHost(request.sourcehost),
    monitorUrl: request.monitor_url,
  }),
  'domain.list': (request) => ({
    ...readPage(request),
    nameContains: request.name && readNameFilter(request.name),
    statusCode: request.domain_status,
  }),
  'domain.delete': readDomainId,
  'domain.setStatus': ({ domain_id, domain_status }) => ({
    domainId: domain_id,
    action: domain_status === '0' ? ('close' as const) : ('open' as const),
  }),
  'domain.setRemark': ({ domain_id, remark }) => ({ domainId: domain_id, remark }),

  'domain.check': readDomainId,
  'domain.explain': readQuestion,
  'origin.probe': readProbe,

  'config.setPolicies': readPolicies,
  'config.getAdvanced': readDomainId,
  'config.setAdvanced': readAdvanced,
  ...READ_ACCESS,
  'config.getPolicies': readDomainId,
  'config.setCacheOptions': (request) => ({
    domainId: request.domain_id,
    chosen: WIRE_CACHE_SETTINGS.readGiven(request),
  }),
  'config.getCacheOptions': readDomainId,
  ...READ_RULES,
  ...READ_ADDRESS_LISTS,

  /** Lists all of them if neither field is given. */
  'certificate.list': (request) =>
    request.page === undefined && request.page_size === undefined ? undefined : readPage(request),
  'certificate.add': readNewCertificate,
  'certificate.delete': ({ ssl_key }) => ({ sslKey: ssl_key }),
  'certificate.get': ({ ssl_key }) => ({ sslKey: ssl_key }),
  'config.setSsl': readSsl,
  'config.getSsl': readDomainId,
  'config.requestCertificate': readDomainId,
  'config.getCertificateRequest': readDomainId,

  'cache.purge': readPurge,
  'cache.prefetch': readPrefetch,
  'cache.getTask': ({ task_id }) => ({ taskId: task_id }),
  'cache.listTasks': readTaskPage,

  'log.list': readLogs,
  'log.tail': readTail,
  ...READ_LOG_SEARCH,
  'stat.traffic': readSums,
  'stat.requests': readSums,
  'stat.top': readTop,
  ...READ_SERIES,
  ...READ_BANDWIDTH,

  'account.getLimits': () => undefined,
  ...READ_SESSIONS,
  ...READ_PEOPLE,
  ...READ_TOKENS,

  'operator.createAccount': ({ name, kind }) => ({ name, kind: kind ?? ('customer' as const) }),
  ...READ_DESK,
  'operator.createToken': readNewToken,
  'operator.listTokens': toModelNames<RequestOf<'operator.listTokens'>>,
  'operator.revokeToken': toModelNames<RequestOf<'operator.revokeToken'>>,
  'operator.narrowToken': toModelNames<RequestOf<'operator.narrowToken'>>,
  'operator.listDomains': (request) => {
    const name = request.name && readNameFilter(request.name);
    return {
      ...readPage(request),
      accountId: request.account_id,
      ...(request.exact === true ? { name: name || undefined } : { nameContains: name }),
      statusCode: request.domain_status,
      isPending: request.pending ?? false,
    };
  },
  'operator.transferDomain': toModelNames<RequestOf<'operator.transferDomain'>>,
  'operator.setDomainStatus': toModelNames<RequestOf<'operator.setDomainStatus'>>,
  'operator.rotateKeyring': () => undefined,
  'operator.setAccountStatus': ({ account_id, enabled }) => ({ accountId: account_id, isEnabled: enabled }),
  ...READ_AUDIT,
  ...READ_DOMAIN_CHANGES,
  ...READ_DOMAIN_VIEWS,
  ...READ_BULK,
  'operator.getAccountLimits': toModelNames<RequestOf<'operator.getAccountLimits'>>,
  'operator.setAccountLimits': readLimits,
  ...READ_EDGES,
  ...READ_EVENTS,
  ...READ_WATCH,
  ...READ_FLEET,
  ...READ_GROUPS,
  ...READ_SINKS,
  ...READ_LIVE,
  ...READ_SMS,
  ...READ_SMS_OPERATOR,
} satisfies { readonly [N in RouteName]: (request: RequestOf<N>) => unknown };

export const WRITE = {
  'domain.get': (view: DomainView, look) => writeDomain(view, look),
  'domain.add': ({ domain, warnings }: AddedDomain, look) => ({
    domain_id: String(domain?.id ?? ''),
    ...writeWarnings(warnings, look),
  }),
  'domain.updateOrigin': (_: ChangedOrigins) => true,
  'domain.list': ({ total, views }: DomainPage, look) => ({
    total,
    list: views.map((view) => writeDomainRow(view, look)),
  }),

  'domain.check': writeCheck,
  'domain.explain': (explanation: DataOf<'domain.explain'>) => explanation,
  'origin.probe': writeOriginCheck,

  'config.getAdvanced': (domain: Domain) => ({ ...writeAdvanced(domain.settings), ...writeRevision(domain) }),
  ...WRITE_ACCESS,
  'config.getPolicies': (domain: Domain) => ({ ...writePolicies(domain.settings.caching), ...writeRevision(domain) }),
  'config.getCacheOptions': (domain: Domain) => ({
    ...WIRE_CACHE_SETTINGS.write(domain.settings.cache),
    ...writeRevision(domain),
  }),
  ...WRITE_RULES,
  ...WRITE_ADDRESS_LISTS,

  'certificate.list': writeCertificatePage,
  'certificate.get': writeCertificateDetail,
  'certificate.add': writeAddedCertificate,
  'config.setSsl': (_: SslWarnings) => true,
  'config.getSsl': (domain: Domain & SslWarnings, look) => ({
    ...writeSsl(domain.settings),
    ...writeCertificateWarnings(domain.warnings, look),
    ...writeRevision(domain),
  }),
  'config.getCertificateRequest': writeCertificateRequest,

  'cache.purge': (taskId: number) => ({ task_id: String(taskId) }),
  'cache.prefetch': (taskId: number) => ({ task_id: String(taskId) }),
  'cache.getTask': (view: TaskView, look) => writeTask(view, look),
  'cache.listTasks': writeTaskPage,

  'log.list': writeLogs,
  'log.tail': writeTail,
  ...WRITE_LOG_SEARCH,
  'stat.traffic': writeTraffic,
  'stat.requests': writeRequests,
  'stat.top': writeTop,
  ...WRITE_SERIES,
  ...WRITE_BANDWIDTH,

  'account.getLimits': writeLimits,
  ...WRITE_SESSIONS,
  ...WRITE_PEOPLE,
  ...WRITE_TOKENS,

  'operator.createAccount': ({ id }: Account) => ({ account_id: String(id) }),
  ...WRITE_DESK,
  'operator.createToken': writeMadeToken,
  'operator.listTokens': (tokens: readonly Token[], look) => ({ list: tokens.map((token) => writeToken(token, look)) }),
  'operator.listDomains': ({ total, views }: DomainPage, look) => ({
    total,
    list: views.map((view) => ({ account_id: String(view.domain.accountId), ...writeDomainRow(view, look) })),
  }),
  'operator.getAccountLimits': writeLimits,
  'operator.rotateKeyring': ({ keyId, ...counts }: Rotation) => ({ key_id: keyId, ...counts }),
  ...WRITE_AUDIT,
  ...WRITE_DOMAIN_CHANGES,
  ...WRITE_DOMAIN_VIEWS,
  ...WRITE_BULK,
  ...WRITE_EDGES,
  ...WRITE_EVENTS,
  ...WRITE_WATCH,
  ...WRITE_FLEET,
  ...WRITE_GROUPS,
  ...WRITE_SINKS,
  ...WRITE_LIVE,
  ...WRITE_SMS,
  ...WRITE_SMS_OPERATOR,
} satisfies Writers<RouteName>;

/** What an operation's handler is given. */
export type InputOf<N extends RouteName> = ReturnType<(typeof READ)[N]>;

/** What `info` says after the word of success, where `data` has no room for it. */
export const NOTES: { readonly [N in RouteName]?: (result: ResultOf<N>, look: Look) => string } = {
  'config.setSsl': noteSslWarnings,
  'domain.updateOrigin': ({ warnings }, { locale }) =>
    warnings.map((warning) => `${locale === 'zh-CN' ? '；' : '; '}${describeOriginWarning(warning, locale)}`).join(''),
};

/** The cookie that an answer sets; `undefined`: none. */
export const COOKIES: { readonly [N in RouteName]?: (result: ResultOf<N>) => string | undefined } = {
  ...SESSION_COOKIES,
  ...PEOPLE_COOKIES,
};

/** What an operation's handler returns. */
export type ResultOf<N extends RouteName> = N extends keyof typeof WRITE
  ? Parameters<(typeof WRITE)[N]> extends [infer R, ...unknown[]]
    ? R
    : undefined
  : undefined;
