/**
 * Live streams as edges and live processes know them: their names, marks that forbid or kick, and the keys of domains.
 */
import { LIVE_APP_NAME, LIVE_ID, LIVE_STREAM_NAME } from '#model/limits.ts';

export interface StreamName {
  readonly domainId: number;
  readonly app: string;
  readonly stream: string;
}

/** A mark on one stream. */
export interface LiveMark {
  /** Use `isForbidden`: a mark may have run out. */
  readonly forbidden: boolean;
  /**
   * Epoch milliseconds at which the stream is resumed by itself; 0: it stays forbidden until an operator resumes it.
   */
  readonly until: number;
  /** Id of a broadcast whose publisher is to be cut; empty: none. */
  readonly kicked: string;
}

/** A mark with the name of its stream. */
export interface NamedLiveMark extends LiveMark, StreamName {}

/** Keys of a domain, at most two of each kind, the primary one first. */
export interface LiveKeys {
  /** Empty: no one can publish if a key is required. */
  readonly publish: readonly string[];
  /** Empty: playing needs no key. */
  readonly play: readonly string[];
  /** Keys of signed URLs, on domains of every type; absent: there are none. */
  readonly urls?: readonly string[];
}

/** Where marks and keys are read from. Synchronous: a local file's index. */
export interface LiveMarkSource {
  /** `undefined`: the stream has no mark. */
  getLiveMark(domainId: number, app: string, stream: string): LiveMark | undefined;
  listLiveMarks(): readonly NamedLiveMark[];
  /** `undefined`: the domain has no keys. */
  getLiveKeys(domainId: number): LiveKeys | undefined;
}

/** Keys of one kind in one domain: primary and secondary. */
export const MAX_LIVE_KEYS = 2;

export function isAppName(text: string): boolean {
  return LIVE_APP_NAME.test(text);
}

export function isStreamName(text: string): boolean {
  return LIVE_STREAM_NAME.test(text);
}

export function isBroadcastId(text: string): boolean {
  return LIVE_ID.test(text);
}

/** Whether publishing and playing are refused at `now` (epoch milliseconds). */
export function isForbidden(mark: LiveMark | undefined, now: number): boolean {
  return mark?.forbidden === true && (mark.until === 0 || now < mark.until);
}

/** Returns `<domain id>/<app>/<stream>`, which is also the key of a mark in the feed. */
export function streamKey({ domainId, app, stream }: StreamName): string {
  return `${domainId}/${app}/${stream}`;
}

/** Reads what `streamKey` wrote; `undefined` if the text is not such a key. */
export function parseStreamKey(key: string): StreamName | undefined {
  const [id = '', app = '', stream = '', ...rest] = key.split('/');
  if (!/^[1-9]\d{0,9}$/.test(id) || !isAppName(app) || !isStreamName(stream) || rest.length > 0) return undefined;
  return { domainId: Number(id), app, stream };
}
