/**
 * Blobs in an S3-compatible store, addressed by path (`endpoint/bucket/prefix/key`), which every such server accepts.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { AwsV4Signer } from 'aws4fetch';
import type { Clock } from '#lib/clock.ts';
import { type BlobContent, type BlobKey, BlobMissing, type BlobStore, type SignedPut } from './blob-store.ts';

export interface S3Place {
  /** `https://host[:port]`, perhaps with a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Prefix of every key, without slashes at its ends; empty: none. */
  readonly prefix: string;
  readonly credentials: { readonly accessKey: string; readonly secretKey: string };
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent if empty. */
  readonly body?: Uint8Array;
}

/** Limit of a request, enough for a rotated log file over a slow connection. */
const ANSWER_MS = 120_000;
const MAX_ERROR_CHARS = 300;
/** How long a signed address is good. */
const PUT_SECONDS = 900;

/** Opens the storage. Promises reject with the storage's own error code in the message, which never holds a secret. */
export function s3BlobStore(place: S3Place, clock: Clock): BlobStore {
  const send = (method: S3Request['method'], key: BlobKey, more?: Pick<S3Request, 'headers' | 'body'>) =>
    sendRequest({ method, url: urlOf(place, key), ...more }, place, clock());
  return {
    async put(key, bytes) {
      const response = await send('PUT', key, { body: bytes, headers: { 'content-type': typeOf(key) } });
      if (!response.ok) throw await problem('PUT', key, response);
      await response.body?.cancel();
    },
    async read(key, { start, end }) {
      if (start === end) return Readable.from([]);
      const response = await send('GET', key, { headers: { range: `bytes=${start}-${end - 1}` } });
      if (response.status === 404) {
        await response.body?.cancel();
        throw new BlobMissing(key);
      }
      if (response.status !== 206 || response.body === null) throw await problem('GET', key, response);
      // `as`: the types of the web stream and of Node's are one at run time.
      return Readable.fromWeb(response.body as ReadableStream);
    },
    async delete(key) {
      const response = await send('DELETE', key);
      if (!response.ok && response.status !== 404) throw await problem('DELETE', key, response);
      await response.body?.cancel();
    },
    uploads: {
      signPut: (key, content) => signPut({ url: urlOf(place, key), type: typeOf(key), content }, place, clock()),
      async sizeOf(key) {
        const response = await send('HEAD', key);
        if (response.status === 404) return undefined;
        if (!response.ok) throw await problem('HEAD', key, response);
        return Number(response.headers.get('content-length'));
      },
    },
  };
}

async function sendRequest(request: S3Request, place: S3Place, now: number): Promise<Response> {
  const { method, url, body } = request;
  const headers = await signRequest(request, place, now);
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(new Error(`no answer within ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  try {
    return await fetch(url, {
      method,
      headers,
      redirect: 'error', // a signature is for one host
      signal: waiting.signal,
      // `as`: these bytes are never in shared memory.
      ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
    });
  } catch (error) {
    throw new Error(`S3 storage ${url.host} cannot be reached: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns all header fields to send. All of them and the body are signed. docs/decisions/0233 */
export async function signRequest(
  { method, url, headers, body = new Uint8Array() }: S3Request,
  { region, credentials }: Pick<S3Place, 'region' | 'credentials'>,
  now: number,
): Promise<Headers> {
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
    accessKeyId: credentials.accessKey,
    secretAccessKey: credentials.secretKey,
    service: 's3',
    region,
    datetime: dateOf(now),
    allHeaders: true,
  });
  return (await signer.sign()).headers;
}

/** Signs a PUT of this content. Its size, its hash and its type are signed, so the address stores nothing else. */
async function signPut(
  { url, type, content }: { readonly url: URL; readonly type: string; readonly content: BlobContent },
  place: Pick<S3Place, 'region' | 'credentials'>,
  now: number,
): Promise<SignedPut> {
  const headers = {
    'content-length': String(content.bytes),
    'content-type': type,
    'x-amz-content-sha256': content.sha256,
  };
  return { url: (await signQuery({ method: 'PUT', url, headers }, place, now, PUT_SECONDS)).href, headers };
}

/** Returns the address with a signature in its query, good for `seconds`. All header fields are signed. */
export async function signQuery(
  { method, url, headers }: S3Request,
  { region, credentials }: Pick<S3Place, 'region' | 'credentials'>,
  now: number,
  seconds: number,
): Promise<URL> {
  const expiring = new URL(url);
  expiring.searchParams.set('X-Amz-Expires', String(seconds));
  const signer = new AwsV4Signer({
    method,
    url: expiring.href,
    ...(headers !== undefined && { headers: { ...headers } }),
    accessKeyId: credentials.accessKey,
    secretAccessKey: credentials.secretKey,
    service: 's3',
    region,
    datetime: dateOf(now),
    allHeaders: true,
    signQuery: true,
  });
  return (await signer.sign()).url;
}

/** Formats an instant as 20130524T000000Z. */
function dateOf(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Returns the media type, which tools that browse the bucket show. */
function typeOf(key: BlobKey): string {
  return key.endsWith('.mp4') ? 'video/mp4' : 'application/gzip';
}

function urlOf({ endpoint, bucket, prefix }: S3Place, key: BlobKey): URL {
  const path = [bucket, ...(prefix === '' ? [] : prefix.split('/')), ...key.split('/')].map(encodeURIComponent);
  return new URL(`${endpoint.replace(/\/+$/, '')}/${path.join('/')}`);
}

async function problem(method: string, key: BlobKey, response: Response): Promise<Error> {
  const text = await response.text().catch(() => '');
  const said = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? text;
  return new Error(`S3 storage answered ${method} ${key} with ${response.status} ${said.slice(0, MAX_ERROR_CHARS)}`);
}

/** Returns the cause of an error of `fetch`, whose own message is only "fetch failed". */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
