/** The access log of one process: a spool of its own in the data directory, and what somebody follows of it. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '#lib/clock.ts';
import { createLocalTime, type LocalTime } from '#lib/local-time.ts';
import { metricsOf } from '#lib/metrics.ts';
import { type AccessLog, openSpool } from '#logs/spool.ts';
import { formatSpooledLine } from '#logs/spooled-line.ts';
import { type TailedLog, tailLog } from '#logs/tail/tail-watch.ts';
import { openTakenCount, type TakenCount, takenCountPath } from '#logs/taken-count.ts';
import type { PartContext } from '../process/child.ts';
import { logWriters, namesOfSlot } from '../process/process-plan.ts';

const NO_LOG: AccessLog = {
  write: () => undefined,
  writeHit: () => undefined,
  countOrigin: () => undefined,
  dropped: () => 0,
  removedBytes: () => 0,
  flush: async () => undefined,
  close: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};

/** Lines that wait for the disk; a minute of a busy worker. */
const MAX_QUEUE_BYTES = 32 * 1024 * 1024;

export function openAccessLog(context: PartContext): TailedLog {
  const { config, send } = context;
  const zone = createLocalTime(config.timeZone);
  const log = config.accessLog === 'off' ? NO_LOG : openOwnSpool(context, zone);
  return tailLog(log, { edge: config.edgeId, zone, send: (lines) => send({ kind: 'tailed', ...lines }) });
}

function openOwnSpool({ config, name, slot, log, registry }: PartContext, zone: LocalTime): AccessLog {
  const taken = openTakenCount(takenCountPath(config.dataDir, name));
  const spool = openSpool({
    directory: spoolDirectory(config.dataDir),
    name,
    firstNumber: randomInt(10_000), // another machine may have this edge's name by mistake
    format: (domainId, record) => formatSpooledLine(domainId, record, zone),
    maxQueueBytes: MAX_QUEUE_BYTES,
    keepBytes: Math.floor(config.logSpoolBytes / logWriters(config).length),
    sharing: namesOfSlot(slot),
    rotateMs: config.logRotateSeconds * 1000,
    zone,
    clock: systemClock,
    log,
    taken,
  });
  const { total } = metricsOf(registry);
  total(
    'causeway_access_log_dropped_lines_total',
    'Access-log lines lost since the start because the disk was too slow or full',
    () => spool.dropped(),
  );
  total(
    'causeway_access_log_removed_bytes_total',
    'Bytes of finished log files removed since the start before they were shipped because the spool was full',
    () => spool.removedBytes(),
  );
  if (taken === undefined) return spool;
  total(
    'causeway_access_log_lost_requests_total',
    'Requests missing from log and statistics since the start because their process was killed',
    () => taken.lost,
  );
  return withTaken(spool, taken);
}

function withTaken(spool: AccessLog, taken: TakenCount): AccessLog {
  const close = async () => {
    await spool.close();
    taken[Symbol.dispose]();
  };
  return {
    write: (domainId, record) => {
      spool.write(domainId, record);
      taken.add();
    },
    writeHit: (hit) => {
      spool.writeHit(hit);
      taken.add();
    },
    countOrigin: (domainId, bytes) => spool.countOrigin(domainId, bytes),
    dropped: () => spool.dropped(),
    removedBytes: () => spool.removedBytes(),
    flush: () => spool.flush(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function spoolDirectory(dataDir: string): string {
  return join(dataDir, 'logs');
}
