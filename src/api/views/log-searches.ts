/** Searches of logs: one of an account at once, and few in all, since each reads and unpacks files. docs/decisions/0674 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { PlacedPart } from '#db/tables/log-parts.ts';
import { LINE_FIELDS } from '#logs/line.ts';
import { type FoundLines, searchPart } from '#logs/search.ts';
import { type BlobStore, blobKey } from '#logs/store/blob-store.ts';
import { compileFilter, type LogFilter } from '#logs/tail/filter.ts';

const MAX_OF_ACCOUNT = 1;
const MAX_IN_ALL = 4;
/** Bytes of lines that one call reads, and time that it takes. */
const MAX_BYTES = 16 * 2 ** 20;
const MAX_MS = 3_000;

/** Epoch milliseconds, both inclusive. */
interface Ended {
  readonly from: number;
  readonly to: number;
}

interface Asked {
  readonly filter: LogFilter;
  /** When the requests ended; `undefined`: at any time. */
  readonly range: Ended | undefined;
}

const ENDED_AT = LINE_FIELDS.indexOf('endedAt');

interface FoundPart {
  readonly edge: string;
  readonly lines: readonly string[];
}

export interface SearchedParts {
  readonly found: readonly FoundPart[];
  readonly readBytes: number;
  readonly isCut: boolean;
  /** The last part that was read; `undefined`: none. */
  readonly last: PlacedPart | undefined;
}

export class LogSearches {
  readonly #blobs: BlobStore;
  readonly #running = new Map<number, number>();
  #inAll = 0;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Reads the parts in their order until there are lines enough, or the bounds are reached; at least one. */
  async run(
    accountId: number,
    { parts, maxLines, ...asked }: Asked & { readonly parts: readonly PlacedPart[]; readonly maxLines: number },
  ): Promise<SearchedParts> {
    const running = this.#running.get(accountId) ?? 0;
    if (running >= MAX_OF_ACCOUNT || this.#inAll >= MAX_IN_ALL)
      throw new ServiceError('searchesFull', { limit: MAX_OF_ACCOUNT });
    this.#running.set(accountId, running + 1);
    this.#inAll += 1;
    try {
      return await this.#read(parts, asked, maxLines);
    } finally {
      this.#inAll -= 1;
      this.#running.delete(accountId);
    }
  }

  async #read(parts: readonly PlacedPart[], asked: Asked, maxLines: number): Promise<SearchedParts> {
    const signal = AbortSignal.timeout(MAX_MS);
    const found: FoundPart[] = [];
    let [lines, readBytes, isCut] = [0, 0, false];
    let last: PlacedPart | undefined;
    for (const part of parts) {
      if (lines >= maxLines || readBytes >= MAX_BYTES || signal.aborted) break;
      const edge = edgeOf(part.key);
      const bounds = { maxLines: maxLines - lines, maxBytes: MAX_BYTES - readBytes, signal };
      const read = await this.#search(part, edge, asked, bounds);
      last = part;
      lines += read.lines.length;
      readBytes += read.readBytes;
      isCut ||= read.isCut;
      if (read.lines.length > 0) found.push({ edge, lines: read.lines.toReversed() });
    }
    return { found, readBytes, isCut, last };
  }

  async #search(
    { key, bytes }: PlacedPart,
    edge: string,
    { filter, range }: Asked,
    bounds: Parameters<typeof searchPart>[2],
  ): Promise<FoundLines> {
    const checked = blobKey(key);
    if (checked === undefined || filter.edge?.includes(edge) === false)
      return { lines: [], readBytes: 0, isCut: false };
    const isAsked = compileFilter(filter, edge);
    const matches = (fields: readonly string[]) => isAsked(fields) && isWithin(range, fields[ENDED_AT]);
    return await searchPart(this.#blobs, { key: checked, bytes, matches }, bounds);
  }
}

function isWithin(range: Ended | undefined, time = ''): boolean {
  if (range === undefined) return true;
  const at = Date.parse(time);
  return at >= range.from && at <= range.to;
}

/** `<domain id>/<YYYY-MM-DD>/<HH>.<edge>.<file>.log.gz`; a file has no dot in its name but that of a domain that is gone. */
function edgeOf(key: string): string {
  return (
    /^\d+\/[\d-]+\/\d\d\.([\w.-]{1,64})\.[a-z0-9-]+-\d{8}T\d{9}Z-\d{4}(?:\.of-\d+)?\.log\.gz$/.exec(key)?.[1] ?? ''
  );
}
