/** When tokens and sessions were last used: noted in memory, and written once a minute for all of them. docs/decisions/0630 */
import type { Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';

/** Ids whose use is noted between two writes; of others it is not. */
const MAX_NOTED = 50_000;
const WRITE_EVERY_MS = 60_000;

export interface Uses extends AsyncDisposable {
  note(id: number, now: number): void;
}

export interface UsesOptions {
  readonly db: Db;
  readonly log: Logger;
  /** Absent: a minute. */
  readonly everyMs?: number | undefined;
  readonly save: (trx: Transaction<Schema>, uses: ReadonlyMap<number, number>) => Promise<void>;
}

/** What was noted is written when it is disposed, too. */
export function startUses({ db, log, everyMs = WRITE_EVERY_MS, save }: UsesOptions): Uses {
  let noted = new Map<number, number>();
  const write = async () => {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await db.transaction((trx) => save(trx, uses));
    } catch (error) {
      noted = new Map([...uses, ...noted]);
      throw error;
    }
  };
  const onFailure = (err: unknown) => log.warn({ err }, 'cannot save when access tokens and sessions were last used');
  const rounds = startRounds({ everyMs, isDelayed: true, work: write, onFailure });
  return {
    note(id, now) {
      if (noted.size < MAX_NOTED || noted.has(id)) noted.set(id, now);
    },
    async [Symbol.asyncDispose]() {
      await rounds[Symbol.asyncDispose]();
      await write().catch(onFailure);
    },
  };
}
