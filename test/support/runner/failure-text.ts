/** What the end of a run repeats of a failed test, since the end is what a log of CI keeps. */
import type { EventData } from 'node:test';

/** The end of a long message says most: a test of another machine ends with what its own run repeats there. */
const LONGEST_MESSAGE = 4_000;

/**
 * Returns the lines that say which test failed and why, or undefined for a test that failed only because one inside it did, which
 * has an event of its own.
 */
export function failureText(event: EventData.TestFail, name: string): string | undefined {
  const { error } = event.details;
  if ('failureType' in error && error.failureType === 'subtestsFailed') return undefined;
  const cause: unknown = error.cause ?? error;
  const message = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return `failed ${name}\n${message.slice(-LONGEST_MESSAGE).replaceAll(/^/gm, '  ')}\n`;
}
