/** One line of the access log by its fields' names, for tests. */

export interface LoggedRequest {
  /** Address of the client. */
  readonly client: string;
  /** Time with the offset of the service's zone. */
  readonly endedAt: string;
  readonly durationMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly host: string;
  readonly method: string;
  readonly target: string;
  /** `HTTP/1.1`. */
  readonly protocol: string;
  /** Cache code and status: `TCP_MISS/200`. */
  readonly result: string;
  readonly contentType: string;
  readonly referer: string;
  readonly userAgent: string;
}

/** Reads a line as `docs/access-log.md` describes it, without its line feed. Throws unless it has 13 fields. */
export function readLoggedRequest(line: string): LoggedRequest {
  const fields = line.split('\t');
  if (fields.length !== 13) throw new Error(`${fields.length} fields: ${line}`);
  const [client, endedAt, durationMs, requestBytes, responseBytes, host, method, ...rest] = fields;
  const [target, protocol, result, contentType, referer, userAgent] = rest;
  return {
    client: String(client),
    endedAt: String(endedAt),
    durationMs: Number(durationMs),
    requestBytes: Number(requestBytes),
    responseBytes: Number(responseBytes),
    host: String(host),
    method: String(method),
    target: String(target),
    protocol: String(protocol),
    result: String(result),
    contentType: String(contentType),
    referer: String(referer),
    userAgent: String(userAgent),
  };
}
