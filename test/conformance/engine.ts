/** Runs the public cache tests against a proxy, each on an address of its own, and during the pauses of the others. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CheckFailure, checkResponse, checkVisits } from './checks.ts';
import { dateValue } from './dates.ts';
import { fetchOnce, type SuiteRequest, type SuiteResponse } from './fetch.ts';
import type { SuiteOrigin } from './origin.ts';
import type { CacheTest, Step, Verdict, Verdicts } from './suite.ts';

export interface Proxy {
  readonly address: SuiteRequest['address'];
  /** `Host` of the requests. */
  readonly host: string;
  /** Pause after each answer, for caches that store an answer a moment later. */
  readonly settleMs?: number;
}

const PAUSE_MS = 3_000;
/** The tests are about seconds, and with all of them asking at once a busy machine takes seconds for each answer. */
const MAX_ASKING = 4;

/** Limit of a test's runs: many are about a second or two, which may end between two requests, or be over on a busy machine. */
const MAX_RUNS = 3;

/** Runs the tests, and again those whose verdict is not the expected one. */
export async function runCacheTests(
  tests: readonly CacheTest[],
  proxy: Proxy,
  origin: SuiteOrigin,
  isExpected: (test: CacheTest, verdict: Verdict) => boolean,
): Promise<Verdicts> {
  const verdicts = new Map<string, Verdict>();
  let left = tests;
  for (let run = 0; run < MAX_RUNS && left.length > 0; run += 1) {
    for (const [id, verdict] of await runOnce(left, proxy, origin)) verdicts.set(id, verdict);
    left = left.filter((test) => {
      const verdict = verdicts.get(test.id);
      return verdict === undefined || !isExpected(test, verdict);
    });
  }
  return verdicts;
}

async function runOnce(tests: readonly CacheTest[], proxy: Proxy, origin: SuiteOrigin): Promise<Verdicts> {
  const turns = new Turns();
  const verdicts = await Promise.all(
    tests.map(async (test) => [test.id, await runTest(test, proxy, origin, turns)] as const),
  );
  return new Map(verdicts);
}

/** Turns in which a test that comes back from a pause precedes those that have not begun. */
class Turns {
  #taken = 0;
  readonly #back: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];

  take(hasBegun: boolean): Promise<void> {
    if (this.#taken < MAX_ASKING) {
      this.#taken++;
      return Promise.resolve();
    }
    return new Promise((resolve) => (hasBegun ? this.#back : this.#waiting).push(resolve));
  }

  give(): void {
    const next = this.#back.shift() ?? this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next();
  }
}

async function runTest(test: CacheTest, proxy: Proxy, origin: SuiteOrigin, turns: Turns): Promise<Verdict> {
  await turns.take(false);
  const token = randomUUID();
  origin.expect(token, test.requests);
  const responses: SuiteResponse[] = [];
  try {
    for (const [index, step] of test.requests.entries()) {
      const request = requestOf(test, step, index + 1, token, responses.at(-1));
      const response = await fetchOnce({ ...proxy, ...request });
      responses.push(response);
      checkResponse(step, index + 1, response, token);
      const pauseMs = step.pause_after === true ? PAUSE_MS : (proxy.settleMs ?? 0);
      if (pauseMs > 0) {
        turns.give();
        await delay(pauseMs);
        await turns.take(true);
      }
    }
    checkVisits(test.requests, responses, origin.visits(token));
    return { kind: 'pass' };
  } catch (error) {
    const isSetup = error instanceof CheckFailure && error.isSetup;
    return { kind: 'fail', isSetup, message: error instanceof Error ? error.message : String(error) };
  } finally {
    turns.give();
  }
}

function requestOf(test: CacheTest, step: Step, number: number, token: string, previous: SuiteResponse | undefined) {
  const own = (step.request_headers ?? []).map(([name, value]) => {
    const now = Number(previous?.headers.get('server-now'));
    // Only where the test says so is a date relative to the answer before.
    return [name, step.magic_ims === true ? dateValue(name, value, now, step.rfc850date) : String(value)] as const;
  });
  const headers = [['Pragma', 'foo'], ['Cache-Control', 'nothing-to-see-here'], ...own, ['Test-ID', test.id]];
  const file = step.filename === undefined ? '' : `/${step.filename}`;
  const query = step.query_arg === undefined ? '' : `?${step.query_arg}`;
  return {
    path: `/test/${token}${file}${query}`,
    method: step.request_method ?? 'GET',
    headers: [...joined(headers), 'Req-Num', String(number), ...withDefaults(own.map(([name]) => name.toLowerCase()))],
    body: step.request_body,
  };
}

/** Several lines of one name are sent as one, as browsers send them. */
function joined(lines: readonly (readonly string[])[]): readonly string[] {
  const fields = new Map<string, string>();
  for (const [name = '', value = ''] of lines) {
    const field = name.toLowerCase();
    fields.set(field, fields.has(field) ? `${fields.get(field)}, ${value}` : value);
  }
  return [...fields].flat();
}

/** What every client sends unless told otherwise. */
function withDefaults(present: readonly string[]): readonly string[] {
  const defaults = [
    ['Accept', '*/*'],
    ['Accept-Language', '*'],
    ['User-Agent', 'cache-tests'],
  ];
  return defaults.filter(([name = '']) => !present.includes(name.toLowerCase())).flat();
}
