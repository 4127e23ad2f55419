/** When tokens were last used: noted in memory, and written once a minute for all of them. docs/decisions/0630 */
import type { Db } from '#db/open.ts';
import { saveTokenUses } from '#db/tables/tokens.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';

/** Tokens whose use is noted between two writes; of others it is not. */
const MAX_NOTED = 50_000;
const WRITE_EVERY_MS = 60_000;

export interface TokenUses extends AsyncDisposable {
  note(tokenId: number, now: number): void;
}

/** What was noted is written when it is disposed, too. `everyMs` absent: a minute. */
export function startTokenUses(db: Db, log: Logger, everyMs = WRITE_EVERY_MS): TokenUses {
  let noted = new Map<number, number>();
  const write = async () => {
    if (noted.size === 0) return;
    const uses = noted;
    noted = new Map();
    try {
      await db.transaction((trx) => saveTokenUses(trx, uses));
    } catch (error) {
      noted = new Map([...uses, ...noted]);
      throw error;
    }
  };
  const onFailure = (err: unknown) => log.warn({ err }, 'cannot save when access tokens were last used');
  const rounds = startRounds({ everyMs, isDelayed: true, work: write, onFailure });
  return {
    note(tokenId, now) {
      if (noted.size < MAX_NOTED || noted.has(tokenId)) noted.set(tokenId, now);
    },
    async [Symbol.asyncDispose]() {
      await rounds[Symbol.asyncDispose]();
      await write().catch(onFailure);
    },
  };
}
