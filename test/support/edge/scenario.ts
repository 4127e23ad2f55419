/**
 * A test of the edge as one script that names both sides in the order in which they act: the client sends, the origin is asked
 * and answers, the client gets. The origin is asked for what the script says and for nothing else: a hit is a `gets` without an
 * `origin` before it. docs/development/scenarios.md
 */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import type { FetchOptions, Received } from './edge.ts';
import type { Answer, SeenRequest } from './origin.ts';
import { type SiteOptions, startSite, type TestSite } from './site.ts';

/** Header fields by lower-case names; `undefined`: the field is absent. */
type Fields = Readonly<Record<string, string | RegExp | undefined>>;

export type Step =
  | { readonly kind: 'client'; readonly line: string; readonly options: FetchOptions }
  | { readonly kind: 'origin'; readonly line: string; readonly answer: Answer; readonly expected: Expected }
  | { readonly kind: 'gets'; readonly status: number; readonly isWhole: boolean; readonly expected: Expected }
  | { readonly kind: 'act'; readonly act: (site: TestSite) => unknown };

interface Expected {
  readonly fields: Fields;
  /** `undefined`: any. */
  readonly body: string | undefined;
}

/** A step of which nothing comes for so long is a failure. */
const STEP_LIMIT_MS = 60_000;

/** A client sends `GET /a?b=1` with these fields. Its answer is that of the first `gets` that no earlier request takes. */
export function client(line: string, fields: Readonly<Record<string, string>> = {}, options: FetchOptions = {}): Step {
  return { kind: 'client', line, options: { ...options, headers: Object.entries(fields).flat() } };
}

/** The origin is asked for `GET /a?b=1`, with these fields among others, and answers. */
export function origin(line: string, answer: Answer, fields: Fields = {}, body?: string): Step {
  return { kind: 'origin', line, answer, expected: { fields, body } };
}

/** The client has its answer: the status, `X-Cache`, the body (`undefined`: any), and these fields among others. */
export function gets(status: number, xCache: string | RegExp | undefined, body?: string, fields: Fields = {}): Step {
  return { kind: 'gets', status, isWhole: true, expected: { fields: { 'x-cache': xCache, ...fields }, body } };
}

/** The client's answer is cut before its end. */
export function breaksOff(status: number, xCache: string): Step {
  return { kind: 'gets', status, isWhole: false, expected: { fields: { 'x-cache': xCache }, body: undefined } };
}

/** A client sends the request, the origin is asked for it with these fields, and the client has a 200 that was a miss. */
export function miss(line: string, answer: Answer, body?: string, fields: Fields = {}): readonly Step[] {
  return [client(line), origin(line, answer, fields), gets(200, 'MISS', body)];
}

/** A client has a 200 from the cache, with these fields among others. */
export function hit(line: string, body?: string, fields: Fields = {}): readonly Step[] {
  return [client(line), gets(200, 'HIT', body, fields)];
}

/** Anything else: the site changes, a purge comes, the origin stops. A promise is awaited. */
export function act(act: (site: TestSite) => unknown): Step {
  return { kind: 'act', act };
}

/** The edge's clock moves forward by so many milliseconds. */
export function pass(ms: number): Step {
  return act(({ edge }) => edge.advance(ms));
}

/** Plays the script at an edge of its own. A list stands for its steps. A failure names the step that was not as written. */
export async function scenario(
  t: Pick<TestContext, 'after'>,
  script: readonly (Step | readonly Step[])[],
  options: SiteOptions = {},
): Promise<void> {
  const steps = script.flat();
  const play = new Play();
  const site = await startSite(t, play.onAsked, options);
  for (const [index, step] of steps.entries()) await play.step(site, step, steps[index + 1], index + 1);
  play.end();
}

interface Sent {
  readonly line: string;
  answer?: Received;
  error?: unknown;
}

class Play {
  /** The client's requests that no `gets` has taken, the oldest first. */
  readonly #sent: Sent[] = [];
  /** Requests at the origin that it has not answered, in order of arrival. */
  readonly #asked: { readonly request: SeenRequest; readonly response: ServerResponse }[] = [];
  #changed = Promise.withResolvers<void>();

  readonly onAsked: Answer = (request, response) => {
    this.#asked.push({ request, response });
    this.#notify();
  };

  async step(site: TestSite, step: Step, next: Step | undefined, number: number): Promise<void> {
    if (step.kind === 'act') await step.act(site);
    else if (step.kind === 'client') this.#send(site, step);
    else if (step.kind === 'origin') await this.#beAsked(step, `step ${number}, the origin's ${step.line}`);
    else await this.#receive(step, next?.kind === 'origin', `step ${number}, gets ${step.status}`);
  }

  /** Whatever was sent has been looked at. */
  end(): void {
    assert.deepEqual([this.#sent.map(({ line }) => line), this.#unscripted], [[], []], 'not in the script');
  }

  get #unscripted(): readonly string[] {
    return this.#asked.map(({ request }) => lineOf(request));
  }

  #send({ edge }: TestSite, { line, options }: Extract<Step, { kind: 'client' }>): void {
    const [method = '', target = ''] = line.split(' ');
    const sent: Sent = { line };
    this.#sent.push(sent);
    void edge.get(target, { method, ...options }).then(
      (answer) => {
        sent.answer = answer;
        this.#notify();
      },
      (error: unknown) => {
        sent.error = error;
        this.#notify();
      },
    );
  }

  async #beAsked({ line, answer, expected }: Extract<Step, { kind: 'origin' }>, step: string): Promise<void> {
    const isAnswered = () => this.#sent.length > 0 && this.#sent.every((sent) => sent.answer ?? sent.error);
    await this.#until(step, () => this.#asked.length > 0 || isAnswered());
    const index = Math.max(0, this.#unscripted.indexOf(line)); // requests that were sent together may arrive in any order
    const [asked] = this.#asked.splice(index, 1);
    if (asked === undefined) assert.fail(`${step}: was not asked, and the client has ${describe(this.#sent.at(-1))}`);
    const { request, response } = asked;
    assertLike({ step, line: lineOf(request) }, { step, line }, request, expected);
    answer(request, response);
  }

  async #receive(
    { status, isWhole, expected }: Extract<Step, { kind: 'gets' }>,
    mayAsk: boolean,
    step: string,
  ): Promise<void> {
    const [sent] = this.#sent;
    if (sent === undefined) assert.fail(`${step}: no request is without an answer`);
    const isDone = () => sent.answer !== undefined || sent.error !== undefined;
    await this.#until(step, () => isDone() || (!mayAsk && this.#asked.length > 0));
    if (!isDone())
      assert.fail(`${step}: the origin was asked for ${this.#unscripted.join(', ')}, which is not in the script`);
    if (sent.answer === undefined) throw sent.error;
    this.#sent.shift();
    const { answer } = sent;
    const found = { step, status: answer.status, isWhole: answer.isWhole };
    assertLike(found, { step, status, isWhole }, answer, expected);
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #until(step: string, isDone: () => boolean): Promise<void> {
    const limit = Promise.withResolvers<never>();
    const timer = setTimeout(() => limit.reject(new Error(`${step}: not within ${STEP_LIMIT_MS} ms`)), STEP_LIMIT_MS);
    try {
      while (!isDone()) await Promise.race([this.#changed.promise, limit.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** One comparison, so that a failure shows everything that was not as expected. */
function assertLike(
  found: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  expected: Expected,
): void {
  const fields = Object.entries(expected.fields).map(([name, value]): [string, unknown] => {
    const text = headers[name];
    return [name, value instanceof RegExp && text !== undefined && value.test(text) ? value : text];
  });
  assert.deepEqual(
    { ...found, ...Object.fromEntries(fields), ...(expected.body !== undefined && { body }) },
    { ...wanted, ...expected.fields, ...(expected.body !== undefined && { body: expected.body }) },
  );
}

function lineOf({ method, target }: SeenRequest): string {
  return `${method} ${target}`;
}

function describe(sent: Sent | undefined): string {
  const { status, headers } = sent?.answer ?? { status: undefined, headers: undefined };
  return status === undefined ? String(sent?.error ?? 'sent nothing') : `${status} ${headers['x-cache']}`;
}
