/** Joins what the edge says of each request to the access log's lines and their spool. */
import { join } from 'node:path';
import { Gauge } from 'prom-client';
import type { VisitEntry, VisitLog } from '#edge/access-log.ts';
import { systemClock } from '#lib/clock.ts';
import { createLocalTime } from '#lib/local-time.ts';
import { type AccessRecord, formatLine } from '#logs/line.ts';
import { openSpool } from '#logs/spool.ts';
import type { PartContext } from './child.ts';

/** Lines that wait for the disk; a minute of a busy worker. */
const MAX_QUEUE_BYTES = 32 * 1024 * 1024;
/** Finished files kept for each worker; of 64 MB, or an hour. */
const KEEP_FILES = 48;

export function openAccessLog({ config, name, log, registry }: PartContext): VisitLog & { close(): Promise<void> } {
  const zone = createLocalTime(config.timeZone);
  const spool = openSpool({
    directory: join(config.dataDir, 'logs'),
    name,
    maxQueueBytes: MAX_QUEUE_BYTES,
    keepFiles: KEEP_FILES,
    zone,
    clock: systemClock,
    log,
  });
  new Gauge({
    name: 'causeway_access_log_dropped_lines',
    help: 'Lines of the access log lost since the start: the disk was too slow, or refused them',
    registers: [registry],
    collect() {
      this.set(spool.dropped());
    },
  });
  return {
    write: (entry) => spool.write(formatLine(toRecord(entry), zone)),
    close: () => spool.close(),
  };
}

function toRecord(entry: VisitEntry): AccessRecord {
  const { receivedBytes, sentBytes, protocol, cacheCode, ...rest } = entry;
  return {
    ...rest,
    requestBytes: receivedBytes,
    responseBytes: sentBytes,
    httpVersion: protocol.replace(/^HTTP\//, ''),
    // The edge says one of the log's words.
    cacheCode: cacheCode as AccessRecord['cacheCode'],
  };
}
