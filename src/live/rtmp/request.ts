/** Reads a client's request from its `connect` command and the name that it publishes or plays. Pure. */
import type { AmfObject, AmfValue } from './amf0.ts';
import type { RtmpRequest } from './conversation.ts';

/** A client's `connect`. */
export interface ConnectFacts {
  readonly app: string;
  readonly tcUrl: string;
  readonly flashVer: string;
  readonly pageUrl: string;
  /** 0 or 3; the response repeats it, as Flash expects. */
  readonly objectEncoding: number;
  /** Whether the client announces Enhanced RTMP. */
  readonly isEnhanced: boolean;
}

/** `argument`: the command object. Text fields of another type count as absent. */
export function readConnect(argument: AmfValue): ConnectFacts {
  const fields: AmfObject = isObject(argument) ? argument : {};
  const text = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' ? value.slice(0, MAX_TEXT) : '';
  };
  const tcUrl = text('tcUrl');
  return {
    app: text('app') || appOf(tcUrl),
    tcUrl,
    flashVer: text('flashVer'),
    pageUrl: text('pageUrl'),
    objectEncoding: fields['objectEncoding'] === 3 ? 3 : 0,
    isEnhanced: ENHANCED_FIELDS.some((name) => fields[name] !== undefined),
  };
}

/** Characters of a text that are used. */
const MAX_TEXT = 4096;
/** Enhanced RTMP v1 and v2, "Enhancing NetConnection connect Command". */
const ENHANCED_FIELDS = ['fourCcList', 'videoFourCcInfoMap', 'audioFourCcInfoMap', 'capsEx'] as const;

function isObject(value: AmfValue): value is AmfObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `name`: the argument of `publish` or `play`, perhaps with a query. */
export function readRequest(
  connect: ConnectFacts,
  name: string,
  client: Pick<RtmpRequest, 'clientAddress' | 'isTls'>,
): RtmpRequest {
  const app = splitQuery(connect.app);
  const stream = splitQuery(name.slice(0, MAX_TEXT));
  const query = new URLSearchParams(stream.query);
  for (const [key, value] of new URLSearchParams(app.query)) if (!query.has(key)) query.append(key, value);
  return {
    ...client,
    host: hostText(query.get('vhost') ?? query.get('domain') ?? undefined) ?? hostOf(connect.tcUrl),
    app: trimSlashes(app.path),
    // Flash clients put the container before the name.
    stream: trimSlashes(stream.path).replace(/^(?:flv|mp4):/, ''),
    query,
    flashVer: connect.flashVer,
    pageUrl: connect.pageUrl,
  };
}

function splitQuery(text: string): { readonly path: string; readonly query: string } {
  const at = text.indexOf('?');
  return at === -1 ? { path: text, query: '' } : { path: text.slice(0, at), query: text.slice(at + 1) };
}

function trimSlashes(text: string): string {
  return text.replace(/^\/+/, '').replace(/\/+$/, '');
}

/** Splits `rtmp://host[:port]/app`. Returns `undefined` for other URLs. */
function splitUrl(tcUrl: string): { readonly host: string; readonly app: string } | undefined {
  const match = /^rtmps?:\/\/(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^/?#:]*)(?::\d{0,5})?(?:[/?#]|$)/i.exec(tcUrl);
  if (match?.[1] === undefined) return undefined;
  return { host: match[1], app: tcUrl.slice(match[0].length) };
}

function appOf(tcUrl: string): string {
  return splitUrl(tcUrl)?.app ?? '';
}

function hostOf(tcUrl: string): string | undefined {
  return hostText(splitUrl(tcUrl)?.host);
}

/** Returns a host in lower case, without port and final dot; `undefined` if it is not a host name or an address. */
function hostText(text: string | undefined): string | undefined {
  const host = text
    ?.toLowerCase()
    .replace(/:\d{0,5}$/, '')
    .replace(/\.$/, '');
  return host !== undefined && /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/.test(host) && host.length <= 253
    ? host
    : undefined;
}
