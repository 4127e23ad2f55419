/** Following a log, on the wire. Used by `wire.ts` only. */
import { FILTER_EXPECTS, MAX_TAIL_SECONDS } from '#contract/domains/check-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { describeFound } from '#contract/schema/found.ts';
import { parseFilter } from '#logs/tail/filter.ts';
import { writeSeconds } from './wire-values.ts';

/** Throws `ServiceError`. */
export function readTail({ domain_id, filter = '', seconds = MAX_TAIL_SECONDS }: RequestOf<'log.tail'>) {
  const parsed = parseFilter(filter);
  if (parsed.kind === 'problem') {
    const { field, term } = parsed;
    throw new ServiceError('fieldInvalid', {
      field: field === undefined ? 'filter' : `filter[${field}]`,
      expected: field === undefined ? TERMS : FILTER_EXPECTS[field],
      found: describeFound(term),
    });
  }
  return { domainId: domain_id, filter, seconds };
}

const NAMES = Object.keys(FILTER_EXPECTS);
const TERMS = {
  'zh-CN': `以空格分隔的条件，形如 字段=值,值，字段为 ${NAMES.join('、')}`,
  en: `terms such as field=value,value, divided by blanks, with one of the fields ${NAMES.join(', ')}`,
};

export function writeTail({
  url,
  expiresAt,
}: {
  readonly url: string;
  readonly expiresAt: number;
}): DataOf<'log.tail'> {
  return { url, expires_at: writeSeconds(expiresAt) };
}
