/** Lists of rules, their words on the wire and in the model. Used by `wire.ts` only. */

import { matchOf, POLICY_KINDS } from '#contract/domains/policy-operations.ts';
import { HEADER_NAME, HEADER_VALUE, REDIRECT_TARGET } from '#contract/domains/rule-operations.ts';
import { localizeReason } from '#contract/errors/reasons.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { quote } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import type { Domain } from '#model/domain.ts';
import { MAX_HEADERS_CHARS } from '#model/limits.ts';
import { type HeaderRule, type PathRule, REDIRECT_STATUSES, type RedirectRule } from '#model/rules.ts';
import { parseRedirectTarget } from '#sites/redirects.ts';
import { areHeadersTooLarge, checkHeaderName, checkHeaderValue } from '#sites/response-headers.ts';
import { checkedPathRule } from './wire-policy.ts';
import { readDomainId, writeFlag, writeRevision } from './wire-values.ts';
import type { Writers } from './writers.ts';

type RuleRoute = `config.${'set' | 'get'}${'RateLimits' | 'UrlSigning' | 'Redirects' | 'ResponseHeaders'}`;

/** A domain, with the keys of its signed URLs: the primary one first. */
export interface SigningDomain extends Domain {
  readonly urlKeys: readonly string[];
}

export const READ_RULES = {
  'config.setRateLimits': ({ domain_id, limits }) => ({
    domainId: domain_id,
    rateLimits: limits.map(({ requests, seconds, burst = requests, ...path }, index) => ({
      ...readPath(`limits[${index}]`, path),
      requests,
      seconds,
      burst,
    })),
  }),
  'config.getRateLimits': readDomainId,
  'config.setRedirects': ({ domain_id, redirects }) => ({
    domainId: domain_id,
    redirects: redirects.map((written, index) => readRedirect(`redirects[${index}]`, written)),
  }),
  'config.getRedirects': readDomainId,
  'config.setResponseHeaders': ({ domain_id, headers }) => {
    const responseHeaders = headers.map((written, index) => readHeader(`headers[${index}]`, written));
    const last = responseHeaders.at(-1);
    if (last !== undefined && areHeadersTooLarge(responseHeaders))
      refuseEntry(`headers[${responseHeaders.length - 1}][value]`, HEADER_VALUE, last.value, TOO_LARGE);
    return { domainId: domain_id, responseHeaders };
  },
  'config.getResponseHeaders': readDomainId,
  /** What is `undefined` stays as it is; an empty key is removed. */
  'config.setUrlSigning': ({ domain_id, sign, valid_seconds, paths, primary_key, secondary_key }) => ({
    domainId: domain_id,
    isOn: sign,
    validSeconds: valid_seconds,
    paths: paths?.map((path, index) => readPath(`paths[${index}]`, path)),
    primaryKey: primary_key,
    secondaryKey: secondary_key,
  }),
  'config.getUrlSigning': readDomainId,
} satisfies { readonly [N in RuleRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_RULES = {
  'config.getRateLimits': (domain: Domain) => ({
    limits: domain.settings.rateLimits.map(({ match, content, ...counted }) => ({
      ...writePath({ match, content }),
      ...counted,
    })),
    ...writeRevision(domain),
  }),
  'config.getRedirects': (domain: Domain) => ({
    redirects: domain.settings.redirects.map(({ match, content, target, status, keepsQuery }) => ({
      ...writePath({ match, content }),
      target,
      status: STATUS_TEXTS[status],
      keep_query: writeFlag(keepsQuery),
    })),
    ...writeRevision(domain),
  }),
  'config.getResponseHeaders': (domain: Domain) => ({
    headers: domain.settings.responseHeaders.map((rule) => ({ ...rule })),
    ...writeRevision(domain),
  }),
  'config.getUrlSigning': ({ urlKeys: [primary = '', secondary = ''], ...domain }: SigningDomain) => ({
    ...writeSigning(domain),
    has_primary_key: writeFlag(primary !== ''),
    has_secondary_key: writeFlag(secondary !== ''),
    ...writeRevision(domain),
  }),
} satisfies Writers<RuleRoute>;

const STATUS_TEXTS = { 301: '301', 302: '302', 307: '307', 308: '308' } as const satisfies Readonly<
  Record<RedirectRule['status'], string>
>;
const TOO_LARGE = `makes all of them longer than ${MAX_HEADERS_CHARS} characters`;

function readRedirect(
  field: string,
  { target, status = '302', keep_query = true, ...path }: RequestOf<'config.setRedirects'>['redirects'][number],
): RedirectRule {
  const parsed = parseRedirectTarget(target);
  if (parsed.kind === 'invalid') refuseEntry(`${field}[target]`, REDIRECT_TARGET, target, parsed.reason);
  const known = REDIRECT_STATUSES.find((each) => String(each) === status) ?? 302;
  return { ...readPath(field, path), target, status: known, keepsQuery: keep_query };
}

function readHeader(
  field: string,
  { action, name, value: given }: RequestOf<'config.setResponseHeaders'>['headers'][number],
): HeaderRule {
  const badName = checkHeaderName(name);
  if (badName !== undefined) refuseEntry(`${field}[name]`, HEADER_NAME, name, badName);
  if (given === undefined && action !== 'remove')
    throw new ServiceError('fieldMissing', { field: `${field}[value]`, expected: HEADER_VALUE });
  const value = given ?? '';
  const badValue = checkHeaderValue({ action, value });
  if (badValue !== undefined) refuseEntry(`${field}[value]`, HEADER_VALUE, value, badValue);
  return { action, name, value: action === 'remove' ? '' : value };
}

export function refuseEntry(field: string, expected: Localized, entry: string, reason: string): never {
  throw new ServiceError('entryInvalid', { field, expected, entry: quote(entry), reason: localizeReason(reason) });
}

export function writeSigning({ settings: { signing } }: Pick<Domain, 'settings'>) {
  return {
    sign: writeFlag(signing.isOn),
    valid_seconds: signing.validSeconds,
    paths: signing.paths.map(writePath),
  };
}

type WirePath = Pick<RequestOf<'config.setRateLimits'>['limits'][number], 'path_type' | 'path'>;

function readPath(field: string, { path_type, path }: WirePath): PathRule {
  return checkedPathRule(`${field}[path]`, { match: matchOf(path_type), content: path });
}

function writePath({
  match,
  content,
}: PathRule): Pick<DataOf<'config.getRateLimits'>['limits'][number], 'path_type' | 'path'> {
  return { path_type: POLICY_KINDS[match].type, path: content };
}
