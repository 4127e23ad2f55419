/** Following a log, on the wire. Used by `wire.ts` only. */
import { FILTER_EXPECTS, MAX_TAIL_SECONDS } from '#contract/domains/check-operations.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { describeFound } from '#contract/schema/found.ts';
import { type LogFilter, parseFilter } from '#logs/tail/filter.ts';
import { writeSeconds } from './wire-values.ts';

export function readTail({ domain_id, filter = '', seconds = MAX_TAIL_SECONDS }: RequestOf<'log.tail'>) {
  readFilter(filter);
  return { domainId: domain_id, filter, seconds };
}

/** Throws `ServiceError`. */
export function readFilter(text: string): LogFilter {
  const parsed = parseFilter(text);
  if (parsed.kind === 'filter') return parsed.filter;
  const { field, term } = parsed;
  throw new ServiceError('fieldInvalid', {
    field: field === undefined ? 'filter' : `filter[${field}]`,
    expected: field === undefined ? TERMS : FILTER_EXPECTS[field],
    found: describeFound(term),
  });
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
