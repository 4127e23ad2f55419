/** Checks and explanations on the wire. Used by `wire.ts` and its handlers only. */
import { isIP } from 'node:net';
import { EXPLAIN_OPERATION } from '#contract/changes/explain-operation.ts';
import { PROBE_OPERATIONS } from '#contract/domains/check-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { describeFound } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import type { PostedAnswer } from '#feed/publish/asks.ts';
import { MAX_ASK_BYTES } from '#feed/wire/ask-messages.ts';
import { parseOrigin } from '#model/origin.ts';
import type { OriginCheck } from '#sites/origin-check.ts';
import type { SiteSpec } from '#sites/spec.ts';
import type { NameCheck } from '../checks/name-check.ts';
import { readDomainName, readProtocol, readSourceHost } from './wire-domain.ts';
import { writeFlag, writeSeconds } from './wire-values.ts';

export interface CertificateCheck {
  readonly state: DataOf<'domain.check'>['certificate']['state'];
  readonly key?: string;
  readonly validTo?: number;
}

export interface DomainCheckView {
  readonly dns: NameCheck;
  readonly certificate: CertificateCheck;
  /** `undefined`: the domain waits for review, so no edge would ask. */
  readonly origin: OriginCheck | undefined;
  readonly seenAt: number | undefined;
}

type Explanation = DataOf<'domain.explain'>;

const {
  url: URL_FIELD,
  headers: HEADERS_FIELD,
  client: CLIENT_FIELD,
} = EXPLAIN_OPERATION['domain.explain'].request.fields;

/** An address for documentation (RFC 5737), which is on nobody's list by accident. */
const SOME_CLIENT = '192.0.2.1';
/** Limit of the request that is asked about: what travels with it has some hundred bytes. */
const MAX_QUESTION_BYTES = MAX_ASK_BYTES - 500;

/** Throws `ServiceError`. */
export function readQuestion(request: RequestOf<'domain.explain'>) {
  const { domain_id, url, method = 'GET', headers = [], client, set } = request;
  const [, scheme, host = '', target = ''] = /^(https?):\/\/([^/?#\s]+)([^#\s]*)$/i.exec(url) ?? [];
  if (scheme === undefined) throw invalid('url', URL_FIELD.expects, url);
  const clientAddress = client ?? SOME_CLIENT;
  if (isIP(clientAddress) === 0) throw invalid('client', CLIENT_FIELD.expects, clientAddress);
  const question = {
    method,
    scheme: scheme.toLowerCase(),
    host,
    target: target.startsWith('/') ? target : `/${target}`,
    headers: headers.flatMap((line, index) => readHeader(line, index)),
    clientAddress,
  };
  if (Buffer.byteLength(JSON.stringify(question)) > MAX_QUESTION_BYTES)
    throw headers.length === 0 ? invalid('url', SHORTER, url) : invalid('headers', SHORTER, headers);
  return { domainId: domain_id, set, question };
}

const SHORTER: Localized = {
  'zh-CN': `与请求的其他部分合计至多 ${MAX_QUESTION_BYTES} 字节（JSON）`,
  en: `at most ${MAX_QUESTION_BYTES} bytes of JSON, together with the rest of the request`,
};

function readHeader(line: string, index: number): readonly string[] {
  const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*)$/.exec(line) ?? [];
  if (name === '' || name.toLowerCase() === 'host')
    throw invalid(`headers[${index}]`, HEADERS_FIELD.each ?? HEADERS_FIELD.expects, line);
  return [name, value];
}

export function urlNotOfDomain(name: string, host: string): ServiceError {
  return invalid('url', { 'zh-CN': `域名 ${name} 下的网址`, en: `a URL of the domain ${name}` }, host);
}

function invalid(field: string, expected: Localized, found: unknown) {
  return new ServiceError('fieldInvalid', { field, expected, found: describeFound(found) });
}

/** Reads an edge's answer, which is not to be trusted. Returns `undefined` if it is not of this form. */
export function readExplanation({ edge, content }: PostedAnswer): Explanation | undefined {
  const { explanation } = Object(content);
  const { steps, xCache, asksOrigin, origins, isTrial } = Object(explanation);
  return EXPLAIN_OPERATION['domain.explain'].data.safeParse({
    edge,
    steps,
    x_cache: xCache,
    asks_origin: asksOrigin === true ? '1' : '0',
    origins,
    settings: isTrial === true ? 'given' : 'stored',
  }).data;
}

const NO_ORIGIN: OriginCheck = {
  origin: '',
  address: '',
  connectMs: 0,
  tls: '',
  status: 0,
  isCacheable: false,
  why: '',
};

export function writeCheck({ dns, certificate, origin = NO_ORIGIN, seenAt }: DomainCheckView): DataOf<'domain.check'> {
  return {
    dns: { state: dns.state, found: [...dns.found], resolvers: [...dns.resolvers] },
    certificate: {
      state: certificate.state,
      ssl_key: certificate.key ?? '',
      expires_at: writeSeconds(certificate.validTo),
    },
    origin: writeOriginCheck(origin),
    seen_at: writeSeconds(seenAt),
  };
}

export function writeOriginCheck({ connectMs, isCacheable, ...asked }: OriginCheck): DataOf<'origin.probe'> {
  return { ...asked, connect_ms: connectMs, cacheable: writeFlag(isCacheable) };
}

/** A domain as it would be with this one origin. Its name is only what the origin is asked for. */
export function readProbe(request: RequestOf<'origin.probe'>): SiteSpec {
  const parsed = parseOrigin(request.origin);
  if (parsed.kind === 'invalid') throw invalid('origin', PROBE_FIELDS.origin.expects, request.origin);
  const { host, port } = parsed;
  const name = request.domain === undefined ? PROBED_NAME : readDomainName(request.domain).name;
  const asked = readSourceHost(request.sourcehost ?? '');
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    id: 1,
    name,
    type: 'static',
    state: 'open',
    origins: {
      protocol: readProtocol(request.source_type ?? ''),
      primary: [{ host, ...(port !== undefined && { port }) }],
      backup: [],
      hostHeader: asked === '' && request.domain === undefined ? shownHost : asked,
      probePath: request.path ?? '/',
    },
  };
}

/** A name of no domain (RFC 2606), where the caller names none. */
const PROBED_NAME = 'probe.invalid';
const PROBE_FIELDS = PROBE_OPERATIONS['origin.probe'].request.fields;
