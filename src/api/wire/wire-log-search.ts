/** Lines that a search has found, on the wire. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { readLine } from '#logs/tail/read-line.ts';
import type { SearchedParts } from '../views/log-searches.ts';
import { readFilter } from './wire-tail.ts';
import { writeFlag } from './wire-values.ts';

export const READ_LOG_SEARCH = {
  'log.search': ({ domain_id, filter = '', starttime, endtime, after, limit }: RequestOf<'log.search'>) => ({
    domainId: domain_id,
    filter: readFilter(filter),
    from: starttime,
    to: endtime,
    after: after === undefined ? undefined : { day: after.slice(0, 10), position: Number(after.slice(11)) },
    limit,
  }),
};

export const WRITE_LOG_SEARCH = {
  'log.search': ({
    found,
    readBytes,
    isCut,
    next,
  }: SearchedParts & { readonly next: string }): DataOf<'log.search'> => ({
    list: found.flatMap(({ edge, lines }) => lines.map((line) => readLine(edge, line))),
    searched_bytes: readBytes,
    cut: writeFlag(isCut),
    next,
  }),
};
