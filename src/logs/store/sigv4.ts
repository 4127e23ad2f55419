/** AWS Signature Version 4 for requests to S3: canonical request, string to sign, `Authorization`. */
import { createHash, createHmac } from 'node:crypto';

export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface RequestToSign {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** URL as it is sent: S3 signs the path as encoded once. */
  readonly url: URL;
  /** Fields by lower-case names; `host` and the two `x-amz-` fields are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface Signing {
  readonly credentials: Credentials;
  readonly region: string;
  readonly now: number;
}

/** All header fields to send, but `host`, which is of the URL. */
export function signRequest(
  { method, url, headers, body }: RequestToSign,
  { credentials, region, now }: Signing,
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, ''); // 20130524T000000Z
  const bodyHash = sha256(body);
  const sent = { ...headers, 'x-amz-content-sha256': bodyHash, 'x-amz-date': time };
  const signed = Object.entries({ ...sent, host: url.host }).sort(byName);
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${credentials.secretKey}`);
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}

function canonicalQuery(url: URL): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  const pairs = [...url.searchParams].map(([name, value]): [string, string] => [encode(name), encode(value)]);
  return pairs
    .sort((a, b) => byName(a, b) || byText(a[1], b[1]))
    .map((pair) => pair.join('='))
    .join('&');
}

function byName([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return byText(a, b);
}

/** Compares code units, as the canonical form requires. */
function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
