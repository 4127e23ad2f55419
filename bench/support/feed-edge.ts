/**
 * One edge as a process of its own: follows the feed, compiles and stores each change, and tells its parent when it had
 * applied which revision. Arguments: the feed's socket, the edge's name, its folder.
 */
import { join } from 'node:path';
import { startFeedClient } from '#feed/client/client.ts';
import { openSocketLink } from '#feed/client/control-link.ts';
import { openEdgeStore } from '#feed/store/edge-store.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { READY } from '../../test/support/feed/feed.ts';

export interface Applied {
  readonly revision: number;
  /** Time on the machine's monotonic clock, which all its processes share. */
  readonly atMs: number;
}

const [, , socketPath = '', edgeId = '', folder = ''] = process.argv;
const log = createLogger({ level: 'warn', name: edgeId });
const store = openEdgeStore(join(folder, `${edgeId}.db`), (to) => log.warn({ to }, 'store moved aside'));
startFeedClient({
  link: openSocketLink(socketPath),
  snapshotFile: join(folder, `${edgeId}.part`),
  edgeId,
  build: 'bench',
  store,
  clock: systemClock,
  log,
  confirm: async ({ revision }) => {
    const applied: Applied = { revision, atMs: Number(process.hrtime.bigint()) / 1e6 };
    process.send?.(applied);
  },
  prefetch: async () => ({ kind: 'stored' }),
  listOriginTroubles: () => [],
  describeVitals: () => READY,
  onClockOffset: () => undefined,
});
process.on('disconnect', () => process.exit(0));
