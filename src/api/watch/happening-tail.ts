/**
 * Reads what has happened since the last look. On PostgreSQL a transaction may commit after others with higher ids, so
 * rows of the last seconds are read again; each is returned once.
 */
import type { Executor } from '#db/schema/schema.ts';
import { findPositionAt, listHappenings } from '#db/tables/happenings.ts';
import type { Happening, HintPosition } from '#model/hint.ts';

/** Time after which no row with a lower id is to come: a transaction takes far less. */
const SETTLED_MS = 10_000;
/** Rows in one query. */
const MAX_ROWS = 1_000;

export class HappeningTail {
  #position: HintPosition;
  /** Ids above the position that were returned. */
  readonly #seen = { audit: new Set<number>(), event: new Set<number>() };

  private constructor(position: HintPosition) {
    this.#position = position;
  }

  /** Begins now: earlier rows are not returned. */
  static async begin(x: Executor, now: number): Promise<HappeningTail> {
    const tail = new HappeningTail(await findPositionAt(x, now - SETTLED_MS));
    await tail.read(x, now);
    return tail;
  }

  /** Every row up to it has been returned, and some later ones. */
  get position(): HintPosition {
    return this.#position;
  }

  async read(x: Executor, now: number): Promise<readonly Happening[]> {
    const changes = await this.#readFrom(x, 'audit', now);
    const news = await this.#readFrom(x, 'event', now);
    return [...changes, ...news];
  }

  async #readFrom(x: Executor, table: keyof HintPosition, now: number): Promise<readonly Happening[]> {
    const seen = this.#seen[table];
    const fresh: Happening[] = [];
    let settled = this.#position[table];
    for (let after = settled; ; ) {
      const rows = await listHappenings(x, table, { after, limit: MAX_ROWS });
      fresh.push(...rows.filter(({ id }) => !seen.has(id)));
      for (const { id } of rows) seen.add(id);
      settled = rows.findLast(({ at }) => at < now - SETTLED_MS)?.id ?? settled;
      const last = rows.at(-1);
      if (last === undefined || rows.length < MAX_ROWS) break;
      after = last.id;
    }
    for (const id of seen) if (id <= settled) seen.delete(id);
    this.#position = { ...this.#position, [table]: settled };
    return fresh;
  }
}
