/**
 * The public HTTP cache tests as data: where they lie, what they look like and how they are scored. The data is not part of
 * the repository; `CACHE_TESTS_JSON` names the file, or it lies beside the repository.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A header line; of a date an integer: seconds from the origin's now. The third says whether the client is to see it. */
export type HeaderLine = readonly [name: string, value: string | number, isChecked?: boolean];

/** Present; present with this value; greater than a number; equal to another header. */
export type ExpectedHeader =
  | string
  | readonly [name: string, value: string | number]
  | readonly [name: string, operator: '=' | '>', operand: string | number];

export type InterimLine = readonly [status: number, headers?: readonly (readonly [string, string])[]];

/** One request of a test and what its answer has to be, in the words of the data. */
export interface Step {
  readonly setup?: boolean;
  /** What, beside the defaults, is part of the set-up: a failure there says nothing about the rule. */
  readonly setup_tests?: readonly string[];
  readonly pause_after?: boolean;
  readonly request_method?: string;
  readonly request_headers?: readonly (readonly [string, string | number])[];
  readonly request_body?: string;
  readonly filename?: string;
  readonly query_arg?: string;
  readonly magic_ims?: boolean;
  readonly magic_locations?: boolean;
  readonly rfc850date?: readonly string[];
  readonly response_status?: readonly [number, string];
  readonly response_headers?: readonly HeaderLine[];
  readonly response_body?: string | null;
  readonly response_pause?: number;
  readonly interim_responses?: readonly InterimLine[];
  readonly disconnect?: boolean;
  readonly expected_type?: 'cached' | 'not_cached' | 'etag_validated' | 'lm_validated';
  readonly expected_status?: number | null;
  readonly expected_response_headers?: readonly ExpectedHeader[];
  readonly expected_response_headers_missing?: readonly (string | readonly [string, string])[];
  readonly expected_response_text?: string | null;
  readonly expected_interim_responses?: readonly InterimLine[];
  readonly expected_request_headers?: readonly (string | readonly [string, string])[];
  readonly expected_request_headers_missing?: readonly (string | readonly [string, string])[];
  readonly expected_method?: string;
  readonly check_body?: boolean;
}

export interface CacheTest {
  readonly id: string;
  readonly name: string;
  /** Absent: required. */
  readonly kind?: 'required' | 'optimal' | 'check';
  readonly browser_only?: boolean;
  readonly requests: readonly Step[];
}

export type Verdict =
  | { readonly kind: 'pass' }
  /** `isSetup`: the test did not get as far as its rule. */
  | { readonly kind: 'fail'; readonly isSetup: boolean; readonly message: string };

export type Verdicts = ReadonlyMap<string, Verdict>;

export const CACHE_TESTS_FILE =
  process.env['CACHE_TESTS_JSON'] ??
  join(import.meta.dirname, '..', '..', '..', 'shared', 'conformance', 'cache-tests.json');

/** What other proxies were measured at, and with which configuration. */
export const EXPECTED_FOLDER = join(dirname(CACHE_TESTS_FILE), 'expected');

/** Returns the tests that apply to a proxy. */
export function readCacheTests(): readonly CacheTest[] {
  // The file is data of a known version; what is wrong with it shows as tests that fail.
  const groups = JSON.parse(readFileSync(CACHE_TESTS_FILE, 'utf8')) as readonly { tests: readonly CacheTest[] }[];
  return groups.flatMap(({ tests }) => tests).filter((test) => test.browser_only !== true);
}

export interface Score {
  readonly required: number;
  readonly optimal: number;
}

/** How many passed of each kind that counts. */
export function score(tests: readonly CacheTest[], passed: (id: string) => boolean): Score {
  const count = (kind: string) => tests.filter((test) => (test.kind ?? 'required') === kind && passed(test.id)).length;
  return { required: count('required'), optimal: count('optimal') };
}
