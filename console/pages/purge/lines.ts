/** The text of the form for purge and prefetch: one URL a line, and what is to be done with each. Pure. */
import type { CallOf, DataOf } from '#contract/operations.ts';

/** Limit of the contract. */
export const MAX_LINES = 100;
const MAX_URL_LENGTH = 2048;

type LineProblem = 'notUrl' | 'tooLong' | 'directory';

export interface Line {
  /** Number of the line, from 1. */
  readonly number: number;
  readonly text: string;
  readonly kind: 'url' | 'directory';
  readonly problem?: LineProblem;
}

export type Act = 'purge' | 'prefetch';

/** Empty lines and repetitions are left out. What ends with `/` is a directory, which can be purged and not be prefetched. */
export function readLines(text: string, act: Act): readonly Line[] {
  const seen = new Set<string>();
  return text.split(/\r\n?|\n/).flatMap((raw, at): readonly Line[] => {
    const line = raw.trim();
    if (line === '' || seen.has(line)) return [];
    seen.add(line);
    const kind = line.endsWith('/') ? 'directory' : 'url';
    const problem = problemOf(line, kind, act);
    return [{ number: at + 1, text: line, kind, ...(problem !== undefined && { problem }) }];
  });
}

function problemOf(line: string, kind: Line['kind'], act: Act): LineProblem | undefined {
  if (line.length > MAX_URL_LENGTH) return 'tooLong';
  if (!/^https?:\/\/[^\s/?#]+\//i.test(line) || /\s/.test(line) || !URL.canParse(line)) return 'notUrl';
  return kind === 'directory' && act === 'prefetch' ? 'directory' : undefined;
}

/** Fields of `cache.purge`; only those with something in them. */
export function purgeOf(lines: readonly Line[]): CallOf<'cache.purge'> {
  const textsOf = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).map(({ text }) => text);
  const [urls, directories] = [textsOf('url'), textsOf('directory')];
  return { ...(urls.length > 0 && { urls }), ...(directories.length > 0 && { directories }) };
}

type Limits = DataOf<'account.getLimits'>;
export type QuotaName = 'purge_urls' | 'purge_directories' | 'prefetch_urls';

export interface Quota {
  readonly name: QuotaName;
  readonly limit: number;
  /** Today; never below 0. */
  readonly left: number;
  /** Number of lines in the form. */
  readonly asked: number;
}

/** What is left today of the quotas that an act takes from, and what the lines take. */
export function quotasOf(limits: Pick<Limits, QuotaName>, act: Act, lines: readonly Line[]): readonly Quota[] {
  const names = act === 'purge' ? (['purge_urls', 'purge_directories'] as const) : (['prefetch_urls'] as const);
  return names.map((name) => {
    const { limit, used } = limits[name];
    const kind = name === 'purge_directories' ? 'directory' : 'url';
    const asked = lines.filter((line) => line.kind === kind).length;
    return { name, limit, left: Math.max(0, limit - used), asked };
  });
}
