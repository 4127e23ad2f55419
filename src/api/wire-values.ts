/** Single values as answers show them. Used by the other `wire-*.ts`. */
import { flag } from '#contract/fields.ts';
import type { RequestOf } from '#contract/operations.ts';

const FIRST_PAGE = 1;
export const DEFAULT_PAGE_SIZE = 20;

export function readPage({ page = FIRST_PAGE, page_size = DEFAULT_PAGE_SIZE }: RequestOf<'operator.listAccounts'>) {
  return { limit: page_size, offset: (page - 1) * page_size };
}

/** Of an operation that answers `true`. */
export function writeDone(_nothing: undefined): true {
  return true;
}

export function writeFlag(value: boolean): '0' | '1' {
  return flag.schema.encode(value) === '1' ? '1' : '0';
}
