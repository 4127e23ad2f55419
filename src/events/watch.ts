/**
 * Lets the observers look, and stores what has changed with its events. Of several controls one looks at what they
 * share; each looks at its own machine.
 */
import type { Db } from '#db/open.ts';
import { type Controls, HOUSEKEEPING } from '#db/peers/peers.ts';
import { noteConditions } from '#db/tables/events/conditions.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import type { Observer } from './observer.ts';

interface WatchOptions {
  readonly db: Db;
  readonly peers: Pick<Controls, 'underLease' | 'mayClaim'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export function watchConditions(options: WatchOptions, observers: readonly Observer[]): AsyncDisposable {
  const { peers, db, log } = options;
  const all = observers.map((observer) =>
    startRounds({
      everyMs: observer.everyMs,
      isDelayed: true, // to keep the start fast
      work: async () => {
        if (observer.owner === '')
          await peers.underLease(HOUSEKEEPING, db, (leased) => look(options, observer, leased));
        else if (peers.mayClaim) await look(options, observer, db);
      },
      onFailure: (error, isRepeated) => {
        if (!isRepeated) log.error({ err: error, kinds: observer.kinds }, 'cannot look for events; retrying');
      },
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((rounds) => rounds[Symbol.asyncDispose]()));
    },
  };
}

async function look({ clock, log }: WatchOptions, { kinds, owner, observe }: Observer, db: Db): Promise<void> {
  const now = clock();
  const observed = await observe(now);
  const events = await db.transaction((trx) => noteConditions(trx, { kinds, owner, observed }, now));
  if (events > 0) log.info({ kinds, events }, 'events added; see "causeway events"');
}
