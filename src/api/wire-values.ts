/** Single values as answers show them. Used by the other `wire-*.ts`. */
import { flag } from '#contract/fields.ts';

/** What a short quotation in an answer may be. */
const MAX_QUOTED_LENGTH = 80;

export function writeFlag(value: boolean): '0' | '1' {
  return flag.schema.encode(value) === '1' ? '1' : '0';
}

/** Cut short: it is shown in an answer. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH).toWellFormed()}…` : text);
}
