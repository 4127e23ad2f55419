/** The origin of the public cache tests: answers each test's requests as its data says, and notes what reached it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { dateValue } from './dates.ts';
import type { Step } from './suite.ts';

/** A request that reached the origin. */
export interface OriginVisit {
  /** Which of the test's requests the client said that it is. */
  readonly number: number;
  readonly method: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the client is to see of the answer. */
  readonly checked: ReadonlyMap<string, string>;
}

export interface SuiteOrigin {
  readonly port: number;
  /** The test that is asked for under `/test/<token>`. */
  expect(token: string, steps: readonly Step[]): void;
  /** Requests with this token, in order of arrival. */
  visits(token: string): readonly OriginVisit[];
}

interface Script {
  readonly steps: readonly Step[];
  readonly visits: OriginVisit[];
}

export async function startSuiteOrigin(t: Pick<TestContext, 'after'>, port = 0): Promise<SuiteOrigin> {
  const scripts = new Map<string, Script>();
  const server = createServer((request, response) => {
    request.resume();
    const script = scripts.get(/^\/test\/([^/?]+)/.exec(request.url ?? '')?.[1] ?? '');
    const number = Number(request.headers['req-num']);
    const step = script?.steps[number - 1];
    if (script === undefined || step === undefined) return void response.writeHead(409).end();
    setTimeout(() => answer(script, step, number, request, response), (step.response_pause ?? 0) * 1000);
  });
  server.listen(port, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    // A TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    expect: (token, steps) => void scripts.set(token, { steps, visits: [] }),
    visits: (token) => scripts.get(token)?.visits ?? [],
  };
}

function answer(
  { steps, visits }: Script,
  step: Step,
  number: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  for (const [status, headers = []] of step.interim_responses ?? []) {
    response.writeInformation(status, headers.flat());
  }
  const [status, reason] = statusOf(step, sentBefore(steps, visits, number), request);
  response.statusCode = status;
  response.statusMessage = reason;
  const checked = setHeaders(response, step, request.url ?? '', visits.length + 1, number);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  visits.push({ number, method: request.method ?? '', headers, checked });
  response.setHeader('Request-Numbers', visits.map((visit) => visit.number).join(' '));
  if (step.disconnect === true) return void response.socket?.destroy();
  if (status === 204 || status === 304) return void response.end();
  // As a string: Node then writes the head as UTF-8 too, and that is how the record was made.
  response.end(step.response_body || tokenOf(request));
}

function tokenOf(request: IncomingMessage): string {
  return /^\/test\/([^/?]+)/.exec(request.url ?? '')?.[1] ?? '';
}

/** The validators of the step before: as sent, else as the data has them. */
function sentBefore(steps: readonly Step[], visits: readonly OriginVisit[], number: number): (name: string) => unknown {
  const sent = visits.findLast((visit) => visit.number === number - 1)?.checked;
  return (name) => {
    const line = steps[number - 2]?.response_headers?.find(([field]) => field.toLowerCase() === name);
    return line === undefined ? undefined : (sent?.get(line[0]) ?? line[1]);
  };
}

/** 304 only to the validator of the step before; 999 when a validation was due and did not come. */
function statusOf(
  step: Step,
  validator: (name: string) => unknown,
  { headers }: IncomingMessage,
): readonly [number, string] {
  if (step.expected_type?.endsWith('validated') !== true) return step.response_status ?? [200, 'OK'];
  const isSame = (name: string, condition: string | undefined) =>
    condition !== undefined && validator(name) === condition;
  const isNotModified =
    isSame('etag', headers['if-none-match']) || isSame('last-modified', headers['if-modified-since']);
  return isNotModified ? [304, 'Not Modified'] : [999, '304 Not Generated'];
}

/** Gives what the client is to see of them. */
function setHeaders(response: ServerResponse, step: Step, url: string, count: number, number: number) {
  const now = Date.now();
  response.setHeader('Server-Base-Url', url);
  response.setHeader('Server-Request-Count', String(count));
  response.setHeader('Client-Request-Count', String(number));
  response.setHeader('Server-Now', String(now));
  const checked = new Map<string, string>();
  for (const [name, written, isChecked = true] of step.response_headers ?? []) {
    let value = dateValue(name, written, now, step.rfc850date);
    if (step.magic_locations === true && /^(content-)?location$/i.test(name)) {
      value = value === '' ? url : `${url}/${value}`;
    }
    const present = response.getHeader(name);
    const all = present === undefined ? value : [present, value].flat().map(String);
    response.setHeader(name, all);
    if (isChecked) checked.set(name, [all].flat().join(', '));
  }
  if (!response.hasHeader('content-type')) response.setHeader('Content-Type', 'text/plain');
  return checked;
}
