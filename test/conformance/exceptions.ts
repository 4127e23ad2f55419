/**
 * The tests of the public suite that are not passed, and why each of them is not to be. An exception that passes fails the
 * run just as a failure that is no exception: then either the suite or the edge has changed.
 */

const CONTRADICTS_ITSELF =
  'the 206 says "bytes 4-9/10", six bytes, and has five: to store it would be to trust a message that contradicts itself';

export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'conditional-lm-fresh-no-lm':
    'the stored Date is later than If-Modified-Since, so RFC 9111 §4.3.2 says 200; a 304 could leave a client with old content',
  'partial-store-partial-reuse-partial': CONTRADICTS_ITSELF,
  'partial-store-partial-reuse-partial-absent': CONTRADICTS_ITSELF,
  'partial-store-partial-reuse-partial-byterange': CONTRADICTS_ITSELF,
  'partial-store-partial-reuse-partial-suffix': CONTRADICTS_ITSELF,
};

/** Passed by a site that has chosen it. */
export const WITHOUT_LANGUAGE_MATCHING: Readonly<Record<string, string>> = {
  'vary-normalise-lang-select':
    'a stored language is used where the origin might have had a better one, which RFC 9111 §4.1 does not speak of: a site chooses it with match_language',
};
