/** The access log of one worker: a spool of its own in the data directory. */
import { join } from 'node:path';
import { Counter } from 'prom-client';
import { systemClock } from '#lib/clock.ts';
import type { LocalTime } from '#lib/local-time.ts';
import { type AccessLog, openSpool } from '#logs/spool.ts';
import type { PartContext } from './child.ts';

/** Lines that wait for the disk; a minute of a busy worker. */
const MAX_QUEUE_BYTES = 32 * 1024 * 1024;
/** Finished files kept for each worker; each of at most 64 MB and one hour. */
const KEEP_FILES = 48;

export function openAccessLog({ config, name, log, registry }: PartContext, zone: LocalTime): AccessLog {
  const directory = join(config.dataDir, 'logs');
  const bounds = { maxQueueBytes: MAX_QUEUE_BYTES, keepFiles: KEEP_FILES };
  const spool = openSpool({ directory, name, ...bounds, zone, clock: systemClock, log });
  new Counter({
    name: 'causeway_access_log_dropped_lines_total',
    help: 'Lines of the access log lost since the start: the disk was too slow, or refused them',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(spool.dropped());
    },
  });
  return spool;
}
