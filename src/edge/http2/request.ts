/** A header section of HTTP/2 as the request that stage 1 reads: one form for both versions. RFC 9113 §8.3.1. Pure. */
import { METHODS } from 'node:http';
import type { RawHeaders } from '#http/headers.ts';
import { type ReceivedRequest, requestHeadBytes } from '../request.ts';

export interface Http2Head {
  /** Flat list, pseudo-header fields first, as node:http2 gives it. */
  readonly fields: RawHeaders;
  /** Nothing comes after it. */
  readonly isWhole: boolean;
}

export type Http2Request = Pick<
  ReceivedRequest,
  'method' | 'target' | 'httpVersion' | 'headers' | 'hasUnframedBody' | 'problem'
> & { readonly expectation: 'none' | 'continue' | 'unknown' };

/** `maxHeadBytes`: as it would be written over HTTP/1.1. */
export function readHttp2Request({ fields, isWhole }: Http2Head, maxHeadBytes: number): Http2Request {
  const pseudo = { method: '', scheme: '', authority: '', path: '' };
  const headers: string[] = [];
  const cookies: string[] = [];
  let host: string | undefined;
  let expectation: Http2Request['expectation'] = 'none';
  let hasLength = false;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? '';
    const value = fields[i + 1] ?? '';
    switch (name) {
      case ':method':
        pseudo.method = value;
        break;
      case ':scheme':
        pseudo.scheme = value;
        break;
      case ':authority':
        pseudo.authority = value;
        break;
      case ':path':
        pseudo.path = value;
        break;
      case 'host':
        host = host === undefined ? value : `${host}, ${value}`; // two of them are no host
        break;
      case 'cookie':
        cookies.push(value); // §8.2.3: in pieces, which are one field elsewhere
        break;
      default:
        if (name === 'content-length') hasLength = true;
        if (name === 'expect') expectation = value.toLowerCase() === '100-continue' ? 'continue' : 'unknown';
        headers.push(name, value);
    }
  }
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  const { method, scheme, path } = pseudo;
  // Both only when they say the same.
  const authority = pseudo.authority === '' ? host : pseudo.authority;
  if (authority !== undefined) headers.unshift('host', authority);
  if (host !== undefined && host.toLowerCase() !== authority?.toLowerCase()) headers.push('host', host);
  // The connection is by TLS; another scheme is another server's, which a target in absolute form says too.
  const target = scheme === 'https' || path === '' ? path : `${scheme}://${authority ?? ''}${path}`;
  const request = { method, target, httpVersion: '2.0', headers, hasUnframedBody: !isWhole && !hasLength } as const;
  return { ...request, expectation, ...problemOf(request, maxHeadBytes) };
}

/** What the parser of HTTP/1 would not let through. */
function problemOf(
  request: Pick<ReceivedRequest, 'method' | 'target' | 'headers'>,
  maxHeadBytes: number,
): Pick<ReceivedRequest, 'problem'> {
  if (!KNOWN_METHODS.has(request.method)) return { problem: 'malformed' };
  return requestHeadBytes(request) > maxHeadBytes ? { problem: 'headerTooLarge' } : {};
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);
