/** Stored responses for tests of stores, and reading their bodies. */
import type { Stored } from '#http/stored.ts';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { Holds } from './holds.ts';
import { isReadable } from './readable-body.ts';
import type { BodyWriter, CachedResponse, CacheStore, StoredBody } from './store.ts';

export function putText(
  store: CacheStore,
  key: string,
  content: string,
  changes: Partial<Stored> = {},
): CachedResponse {
  const writer = store.openWriter();
  if (content !== '') writer.add(Buffer.from(content));
  const body = writer.finish();
  if (body === undefined) throw new Error('the body was not taken');
  const response = { ...storedHead(changes), body };
  store.put(key, response, DEFAULT_CACHE_OPTIONS);
  writer.discard();
  return response;
}

/** Returns a response's body as text; `undefined` if there is none or it cannot be read. */
export async function textOf(response: CachedResponse | undefined): Promise<string | undefined> {
  using holds = new Holds();
  if (response === undefined || !(await isReadable(response.body, holds))) return undefined;
  return (await readAll(response.body)).toString();
}

/** Copies a span of a held body, or all of it. */
export async function readAll(body: StoredBody, span = { first: 0, last: body.sizeBytes - 1 }): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body.read(span)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

export function finishSomehow(writer: BodyWriter, index: number): void {
  if (index % 2 === 0) writer.finish();
  writer.discard();
}

export function storedHead(changes: Partial<Stored> = {}): Stored {
  return {
    status: 200,
    reason: 'OK',
    headers: ['Content-Type', 'text/plain'],
    vary: [],
    varyKey: '',
    varyHeaders: [],
    etag: undefined,
    range: undefined,
    requestAt: 500,
    responseAt: 500,
    dateAt: 500,
    lastModifiedAt: undefined,
    initialAgeMs: 0,
    lifetimeMs: 60_000,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: undefined,
    mustValidate: false,
    forbidsStale: false,
    isInvalid: false,
    noTransform: false,
    ...changes,
  };
}
