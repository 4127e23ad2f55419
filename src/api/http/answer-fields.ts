/** Header fields of every answer, on both ways of serving. */
import type { CallAnswer } from '../call-answer.ts';

/** Here too for the answers that no hook sees. */
export const ALWAYS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json; charset=utf-8',
};

export function fieldsOf({ headers }: CallAnswer, requestId: string): Record<string, string> {
  return { ...headers, 'x-request-id': requestId, ...ALWAYS };
}

/** Returns the fields as lines of a head. */
export function linesOf(fields: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`;
  return lines;
}
