/** One request of a test over a connection of its own, and everything that came back. */
import { request as httpRequest } from 'node:http';

export interface SuiteResponse {
  readonly status: number;
  /** Lower-case names; several lines joined. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly interim: readonly { readonly status: number; readonly headers: ReadonlyMap<string, string> }[];
}

export interface SuiteRequest {
  /** The proxy's. */
  readonly address: { readonly host: string; readonly port: number };
  /** `Host`. */
  readonly host: string;
  readonly path: string;
  readonly method: string;
  readonly headers: readonly string[];
  readonly body: string | undefined;
}

const TIMEOUT_MS = 10_000;

/** Rejects when no complete answer came in time. */
export function fetchOnce({ address, host, path, method, headers, body }: SuiteRequest): Promise<SuiteResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<SuiteResponse>();
  const length = body === undefined ? (method === 'POST' ? '0' : undefined) : String(Buffer.byteLength(body));
  const request = httpRequest({
    ...address,
    path,
    method,
    agent: false,
    headers: ['Host', host, ...headers, ...(length === undefined ? [] : ['Content-Length', length])],
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const interim: SuiteResponse['interim'][number][] = [];
  request.on('information', ({ statusCode, rawHeaders }) => {
    interim.push({ status: statusCode, headers: joinLines(rawHeaders) });
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: joinLines(response.rawHeaders),
        text: Buffer.concat(chunks).toString(),
        interim,
      }),
    );
  });
  request.end(body);
  return promise;
}

function joinLines(raw: readonly string[]): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    const value = raw[i + 1] ?? '';
    lines.set(name, lines.has(name) ? `${lines.get(name)}, ${value}` : value);
  }
  return lines;
}
