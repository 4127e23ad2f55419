/** Sends recordings to control piece by piece, with retries. While control is unreachable, they wait in the spool. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { moveFragment, readTimeScales } from '#fanout/fmp4/rebase.ts';
import { formatRecordingMessage, type RecordingMessage } from '#feed/wire/recording-message.ts';
import { backoffDelayMs } from '#lib/backoff.ts';
import { unlessMissing } from '#lib/file-error.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import { readPiece } from './piece-file.ts';
import { INIT_NAME, pieceName, type RecordingSpool, type Spooled } from './spool.ts';

export interface RecordingShipperOptions {
  readonly spool: RecordingSpool;
  readonly edge: string;
  /** Resolves when control has stored the message, or with `refused` if it never will; rejects if a retry may help. */
  post(body: Buffer, signal: AbortSignal): Promise<'taken' | 'refused'>;
  readonly timers: Timers;
  readonly random: () => number;
  readonly log: Logger;
}

export interface RecordingShipper extends AsyncDisposable {
  /** Number of pieces that control refused for good or that could not be read. */
  readonly lost: number;
}

const BACKOFF = { firstMs: 1_000, capMs: 60_000 };
/**
 * Failures in a row after which control counts as unreachable and a round ends. After fewer, other recordings are sent.
 */
const MAX_FAILURES_IN_A_ROW = 3;

export function startRecordingShipper(options: RecordingShipperOptions): RecordingShipper {
  const { spool, timers, log } = options;
  const stop = new AbortController();
  let [failures, lost] = [0, 0];
  let running: Promise<void> | undefined;
  let isHurried = false;
  let cancel = () => {};
  /** Rejects if a recording has failed, after the others were sent unless control is unreachable. */
  const sendAll = async () => {
    const failed = new Set<Spooled>();
    let [inARow, problem]: [number, unknown] = [0, undefined];
    for (let next = spool.next(); next !== undefined && !stop.signal.aborted; next = spool.next(failed)) {
      try {
        if ((await send(options, next, stop.signal)) === 'lost') lost++;
        inARow = 0;
      } catch (error) {
        failed.add(next);
        problem = error;
        if (++inARow === MAX_FAILURES_IN_A_ROW) break;
      }
    }
    if (failed.size > 0) throw problem;
    if (failures > 0) log.info('control accepts recordings again');
    failures = 0;
  };
  const wake = () => {
    isHurried = true;
    // During a back-off, new pieces wait, too.
    if (stop.signal.aborted || running !== undefined || failures > 0) return;
    run();
  };
  const run = () => {
    isHurried = false;
    running = sendAll()
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        if (failures++ === 0)
          log.warn({ err: error }, 'cannot send a recording to control; keeping it on disk and retrying');
        cancel = timers.after(backoffDelayMs(BACKOFF, failures, options.random()), run);
      })
      .finally(() => {
        running = undefined;
        if (isHurried) wake();
      });
  };
  spool.onReady = wake;
  wake();
  return {
    get lost() {
      return lost;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      cancel();
      await running;
      cancel();
    },
  };
}

async function send(
  { spool, edge, post, log }: RecordingShipperOptions,
  spooled: Spooled,
  signal: AbortSignal,
): Promise<'sent' | 'lost'> {
  const [n] = spooled.pieces;
  const message = n === undefined ? endOf(spooled, edge) : await readMessage(spooled, n, edge);
  const outcome = message === undefined ? 'refused' : await post(formatRecordingMessage(message), signal);
  if (outcome === 'refused') {
    const { id, domainId, app, stream } = spooled.facts;
    log.error(
      { domainId, app, stream, recording: id, n },
      'a piece of a recording is lost: it is damaged or was rejected by control',
    );
  }
  const isAll =
    n === undefined || (spooled.pieces.length === 1 && spooled.end !== undefined && message?.end !== undefined);
  if (isAll) await spool.forget(spooled);
  else await spool.dropPiece(spooled);
  return outcome === 'taken' ? 'sent' : 'lost';
}

/** Returns `undefined` if the piece is missing or damaged. */
async function readMessage(spooled: Spooled, n: number, edge: string): Promise<RecordingMessage | undefined> {
  const { folder, pieces, end } = spooled;
  const [init, file] = await Promise.all(
    [INIT_NAME, pieceName(n)].map((name) => unlessMissing(readFile(join(folder, name)))),
  );
  const piece = file && readPiece(file);
  if (init === undefined || piece === undefined) return undefined;
  const { startsAt, durationMs, isDiscontinuity, parts } = piece;
  const scales = readTimeScales(init);
  for (const part of parts) moveFragment(part, scales, spooled.facts.baseMs);
  return {
    ...factsOf(spooled, edge),
    n,
    endsAt: Math.round(startsAt + durationMs),
    durationMs: Math.round(durationMs),
    isDiscontinuity,
    ...(end !== undefined && pieces.length === 1 && { end }),
    initBytes: init.length,
    bytes: Buffer.concat([init, ...parts]),
  };
}

function endOf(spooled: Spooled, edge: string): RecordingMessage {
  const { facts, nextPiece, end } = spooled;
  const empty = { n: nextPiece, endsAt: facts.beganAt, durationMs: 0, isDiscontinuity: false, initBytes: 0 };
  return { ...factsOf(spooled, edge), ...empty, ...(end !== undefined && { end }), bytes: Buffer.alloc(0) };
}

function factsOf({ facts }: Spooled, edge: string) {
  const { id, domainId, app, stream, broadcast, beganAt } = facts;
  return { edge, recording: id, domainId, app, stream, broadcast, beganAt };
}
