/** A domain's words on the wire and in the model: codes, names of protocols, origins as texts. Used by `wire.ts`. */
import { isIP } from 'node:net';
import { CDN_TYPES, type DomainData, type ListedDomain, SOURCE_TYPES } from '#contract/domains/domain-data.ts';
import { CDN_TYPE_LABELS, CLOSING_LABEL, DOMAIN_STATUS_LABELS, PENDING_LABEL } from '#contract/domains/labels.ts';
import { describeOriginWarning } from '#contract/domains/origin-warnings.ts';
import { localizeReason } from '#contract/errors/reasons.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { quote } from '#contract/schema/found.ts';
import type { Locale, Localized } from '#contract/schema/locale.ts';
import type { AccelerationType, Domain, DomainSettings, OriginProtocol } from '#model/domain.ts';
import { cnameOf, type DomainName, parseDomainName, toNameFragment } from '#model/domain-name.ts';
import { parseOrigin } from '#model/origin.ts';
import { defaultPort } from '#sites/origin-address.ts';
import type { OriginWarning } from './origin-warnings.ts';
import { writeAdvanced } from './wire-advanced.ts';
import { writeFlag, writeRevision } from './wire-values.ts';

/** How answers are to look. */
export interface Look {
  readonly locale: Locale;
  readonly domainStatusAs: 'int' | 'string';
  readonly cnameSuffix: string;
  /** `YYYY-MM-DD HH:MM:SS` in the service's zone. */
  readonly formatTime: (at: number) => string;
}

/** A domain and whether its last setting change has reached every live edge. */
export interface DomainView {
  readonly domain: Domain;
  readonly isInForce: boolean;
  /** Ids of edges that do not run the change yet. Absent: not looked for. */
  readonly waitingFor?: readonly string[];
  /** Absent: not looked for. */
  readonly warnings?: readonly OriginWarning[];
}

type CdnType = (typeof CDN_TYPES)['codes'][number];
type SourceType = (typeof SOURCE_TYPES)['codes'][number];

export function readType(code: CdnType): AccelerationType {
  return CDN_TYPES.valueOf[code];
}

export function readProtocol(word: SourceType | ''): OriginProtocol {
  return word === '' ? 'http' : SOURCE_TYPES.valueOf[word];
}

export function readDomainName(text: string): Extract<DomainName, { kind: 'name' }> {
  const parsed = parseDomainName(text.trim());
  if (parsed.kind === 'invalid')
    throw new ServiceError('domainNameInvalid', { entry: quote(text), reason: localizeReason(parsed.reason) });
  return parsed;
}

/** Part of a name, or all of it, as names are kept. */
export function readNameFilter(text: string): string {
  return toNameFragment(text.trim());
}

/** Kept as written; each is checked here and named when it is wrong. */
export function readOrigins(field: 'data' | 'backup', entries: readonly string[]): readonly string[] {
  for (const [index, entry] of entries.entries()) checkOrigin(`${field}[${index}]`, entry);
  return entries;
}

/** The origin's Host header: a host, perhaps with a port; empty for the default. Lower-case ASCII. */
export function readSourceHost(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const { host, port } = checkOrigin('sourcehost', trimmed);
  return (host.includes(':') ? `[${host}]` : host) + (port === undefined ? '' : `:${port}`);
}

function checkOrigin(field: string, text: string): { readonly host: string; readonly port?: number } {
  const parsed = parseOrigin(text);
  if (parsed.kind === 'origin') return parsed;
  throw new ServiceError('originInvalid', { field, entry: quote(text), reason: localizeReason(parsed.reason) });
}

/** Left out when there are none. */
export function writeWarnings(warnings: readonly OriginWarning[] = [], { locale }: Look): Pick<DomainData, 'warnings'> {
  if (warnings.length === 0) return {};
  return {
    warnings: warnings.map((warning) => ({ code: warning.code, text: describeOriginWarning(warning, locale) })),
  };
}

const MAX_NAMED_EDGES = 20;

export function writeDomain({ domain, isInForce, waitingFor = [], warnings }: DomainView, look: Look): DomainData {
  const { settings } = domain;
  const cdnTypeId = CDN_TYPES.codeOf[domain.type];
  const statusCode = statusCodeOf(domain, isInForce);
  const port = portOf(settings);
  return {
    domain_id: String(domain.id),
    domain_name: domain.name,
    cname: cnameOf(domain.name, look.cnameSuffix),
    cdn_type_id: cdnTypeId,
    cdn_type: CDN_TYPE_LABELS[cdnTypeId][look.locale],
    icp_no: domain.icpNumber,
    source_type: SOURCE_TYPES.codeOf[settings.originProtocol],
    origin: [...settings.origins],
    backup: [...settings.backups],
    ...(port !== undefined && { port: String(port) }),
    sourcehost: settings.originHost || (isWildcard(domain) ? '' : domain.name),
    domain_status: look.domainStatusAs === 'int' ? Number(statusCode) : statusCode,
    status: labelOf(domain, isInForce, statusCode)[look.locale],
    ...(domain.state === 'rejected' && domain.rejectReason !== undefined && { reject_reason: domain.rejectReason }),
    ...(waitingFor.length > 0 && { waiting_for: waitingFor.slice(0, MAX_NAMED_EDGES) }),
    monitor_url: settings.monitorUrl,
    ...writeAdvanced(settings),
    ...writeSslKeys(settings),
    html_403: settings.html403,
    // The document's own, if surprising, sense: 0 is a wildcard, 1 an ordinary domain.
    is_extensive: writeFlag(!isWildcard(domain)),
    remark: domain.remark,
    create_time: look.formatTime(domain.createdAt),
    ...writeRevision(domain),
    ...writeWarnings(warnings, look),
  };
}

/** The certificates of a domain that is served over HTTPS. */
export function writeSslKeys({
  sslControl,
  sslKey,
  secondSslKey,
}: Pick<DomainSettings, 'sslControl' | 'sslKey' | 'secondSslKey'>) {
  return {
    ...(sslControl && { ssl_key: sslKey }),
    ...(sslControl && secondSslKey !== '' && { ssl_key_second: secondSslKey }),
  };
}

/** Writes a domain as an entry of a list. */
export function writeDomainRow(view: DomainView, look: Look): ListedDomain {
  const { html_403: _page, waiting_for: _edges, ...row } = writeDomain(view, look);
  return row;
}

function statusCodeOf(domain: Domain, isInForce: boolean): keyof typeof DOMAIN_STATUS_LABELS {
  switch (domain.state) {
    case 'closed':
      return '0';
    case 'pending':
      return '1';
    case 'open':
      return isInForce ? '2' : '1';
    case 'rejected':
      return '5';
    case 'disabled':
      return '6';
  }
}

function labelOf({ state }: Domain, isInForce: boolean, code: keyof typeof DOMAIN_STATUS_LABELS): Localized {
  if (state === 'pending') return PENDING_LABEL;
  return state === 'closed' && !isInForce ? CLOSING_LABEL : DOMAIN_STATUS_LABELS[code];
}

function isWildcard(domain: Domain): boolean {
  return domain.name.startsWith('*.');
}

/** Only when the first primary origin is an IP address: its own port, else the protocol's (http's for `follow`). */
function portOf(settings: DomainSettings): number | undefined {
  const [first] = settings.origins;
  if (first === undefined) return undefined;
  const origin = parseOrigin(first);
  if (origin.kind === 'invalid' || isIP(origin.host) === 0) return undefined;
  return origin.port ?? defaultPort(settings.originProtocol);
}
