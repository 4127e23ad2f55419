/** Single values as answers show them. Used by the other `wire-*.ts`. */
import { flag } from '#contract/fields.ts';

export function writeFlag(value: boolean): '0' | '1' {
  return flag.schema.encode(value) === '1' ? '1' : '0';
}
