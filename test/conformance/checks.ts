/** What each answer of a test has to be, and what has to have reached the origin. */
import { dateValue } from './dates.ts';
import type { SuiteResponse } from './fetch.ts';
import type { OriginVisit } from './origin.ts';
import type { ExpectedHeader, Step } from './suite.ts';

/** Leaves the checks at the first failure; caught where a test ends. */
export class CheckFailure extends Error {
  readonly isSetup: boolean;

  constructor(isSetup: boolean, message: string) {
    super(message);
    this.isSetup = isSetup;
  }
}

/** `number` is the request's, from 1; `token` is the body unless the test says otherwise. */
export function checkResponse(step: Step, number: number, response: SuiteResponse, token: string): void {
  const numbers = response.headers.get('request-numbers')?.split(' ') ?? [];
  check(true, new Set(numbers).size === numbers.length, 'retry');
  checkType(step, number, response);
  checkStatus(step, number, response);
  for (const expected of step.expected_response_headers ?? []) checkHeader(step, number, response, expected);
  for (const missing of step.expected_response_headers_missing ?? []) {
    // With a value, the data asks for nothing that could be told from one that is merely kept.
    if (typeof missing !== 'string') continue;
    check(
      isSetup(step, 'expected_response_headers_missing'),
      !hasHeader(response, missing),
      `${number}: has ${missing}`,
    );
  }
  checkInterim(step, number, response);
  checkBody(step, number, response, token);
}

/** Compares, in order, the requests that should have reached the origin with those that did. */
export function checkVisits(
  steps: readonly Step[],
  responses: readonly SuiteResponse[],
  visits: readonly OriginVisit[],
): void {
  let next = 0;
  for (const [index, step] of steps.entries()) {
    if (step.expected_type === 'cached') continue;
    checkVisit(step, index + 1, responses[index], visits[next]);
    next++;
  }
}

function checkVisit(
  step: Step,
  number: number,
  response: SuiteResponse | undefined,
  visit: OriginVisit | undefined,
): void {
  const type = step.expected_type;
  if (type === 'not_cached') {
    check(isSetup(step, 'expected_type'), visit?.number === number, `${number}: comes from the cache`);
  }
  if (type === 'etag_validated' || type === 'lm_validated') {
    const field = type === 'etag_validated' ? 'if-none-match' : 'if-modified-since';
    check(isSetup(step, 'expected_type'), visit?.headers[field] !== undefined, `${number}: sent without ${field}`);
  }
  for (const expected of step.expected_request_headers ?? []) {
    const [name, value] = typeof expected === 'string' ? [expected, undefined] : expected;
    const sent = visit?.headers[name.toLowerCase()];
    const isRight = value === undefined ? sent !== undefined : sent === value;
    check(isSetup(step, 'expected_request_headers'), isRight, `${number}: sent with ${name} ${sent}, not ${value}`);
  }
  for (const [name, value] of visit?.checked ?? []) {
    if (name.toLowerCase() === 'date') continue;
    const received = response?.headers.get(name.toLowerCase());
    check(true, received === value, `${number}: ${name} is "${received}", not "${value}"`);
  }
  if (step.expected_method !== undefined) {
    check(
      isSetup(step, 'expected_method'),
      visit?.method === step.expected_method,
      `${number}: sent as ${visit?.method}`,
    );
  }
}

function checkType({ expected_type: type, ...step }: Step, number: number, { status, headers }: SuiteResponse): void {
  const count = Number.parseInt(headers.get('server-request-count') ?? '', 10);
  const setup = isSetup(step, 'expected_type');
  // A 304 from a cache need not have the origin's count.
  if (type === 'cached' && !(status === 304 && Number.isNaN(count))) {
    check(setup, count < number, `${number}: does not come from the cache`);
  }
  if (type === 'not_cached') check(setup, count === number, `${number}: comes from the cache`);
}

function checkStatus(step: Step, number: number, { status }: SuiteResponse): void {
  if (step.expected_status !== undefined) {
    const isRight = step.expected_status === null || status === step.expected_status;
    check(isSetup(step, 'expected_status'), isRight, `${number}: status ${status}, not ${step.expected_status}`);
  } else if (step.response_status !== undefined) {
    check(true, status === step.response_status[0], `${number}: status ${status}, not ${step.response_status[0]}`);
  } else if (status === 999) {
    check(isSetup(step, 'expected_type'), false, `${number}: should have been conditional`);
  } else {
    check(true, status === 200, `${number}: status ${status}, not 200`);
  }
}

function checkHeader(step: Step, number: number, response: SuiteResponse, expected: ExpectedHeader): void {
  const setup = isSetup(step, 'expected_response_headers');
  const name = typeof expected === 'string' ? expected : expected[0];
  const value = response.headers.get(name.toLowerCase());
  if (typeof expected === 'string' || expected.length === 3) check(setup, value !== undefined, `${number}: no ${name}`);
  if (typeof expected === 'string') return;
  if (expected.length === 3) {
    const [, operator, operand] = expected;
    const isRight =
      operator === '>'
        ? Number.parseInt(value ?? '', 10) > Number(operand)
        : value === response.headers.get(String(operand).toLowerCase());
    check(setup, isRight, `${number}: ${name} is ${value}, not ${operator} ${operand}`);
    return;
  }
  const wanted = expectedValue(step, response, name, expected[1]);
  check(setup, value === wanted, `${number}: ${name} is "${value}", not "${wanted}"`);
}

/** Dates and addresses are relative to what the origin says of itself in the very response. */
function expectedValue(step: Step, { headers }: SuiteResponse, name: string, value: string | number): string {
  const text = dateValue(name, value, Number(headers.get('server-now')), step.rfc850date);
  if (step.magic_locations !== true || !/^(content-)?location$/i.test(name)) return text;
  const base = headers.get('server-base-url') ?? '';
  return text === '' ? base : `${base}/${text}`;
}

function checkInterim(step: Step, number: number, { interim }: SuiteResponse): void {
  const setup = isSetup(step, 'expected_interim_responses');
  for (const [index, [status, headers = []]] of (step.expected_interim_responses ?? []).entries()) {
    const received = interim[index];
    check(setup, received?.status === status, `${number}: interim status ${received?.status}, not ${status}`);
    for (const [name, value] of headers) {
      check(setup, received?.headers.get(name) === value, `${number}: interim without ${name}`);
    }
  }
}

function checkBody(step: Step, number: number, { status, text }: SuiteResponse, token: string): void {
  if (step.check_body === false) return;
  const { expected_response_text: expected, response_body: sent } = step;
  if (expected !== undefined) {
    const isRight = expected === null || text === expected;
    check(isSetup(step, 'expected_response_text'), isRight, `${number}: body "${text}", not "${expected}"`);
  } else if (sent !== undefined && sent !== null) {
    check(true, text === sent, `${number}: body "${text}", not "${sent}"`);
  } else if (status !== 204 && status !== 304 && step.request_method !== 'HEAD') {
    check(true, text === token, `${number}: body "${text}", not "${token}"`);
  }
}

function hasHeader({ headers }: SuiteResponse, name: string): boolean {
  return headers.has(name.toLowerCase());
}

function isSetup(step: Step, what: string): boolean {
  return step.setup === true || step.setup_tests?.includes(what) === true;
}

function check(setup: boolean, isRight: boolean, message: string): void {
  if (!isRight) throw new CheckFailure(setup, message);
}
