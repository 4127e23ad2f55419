/**
 * The common frame of child processes: starts the part with the settings that it is sent, answers with its metrics, and
 * ends on request or when the supervisor is gone. Only the supervisor handles signals, since a terminal's Ctrl-C
 * reaches all processes at once.
 */
import { Registry } from 'prom-client';
import type { RateCounts } from '#edge/client-rates.ts';
import type { DrainLimits } from '#edge/ending.ts';
import type { OriginUse, ProbeReport } from '#edge/origin/probe-schedule.ts';
import type { TicketSecret } from '#edge/transport/tls/ticket-keys.ts';
import { createLogger, type Logger, openLogSink } from '#lib/logger.ts';
import { ignoreSignals, UNUSED_SIGNALS } from '#lib/signals.ts';
import type { Tail, TailedLines } from '#logs/tail/tail-watch.ts';
import type { PrefetchOutcome, PrefetchRequest } from '#sites/prefetch.ts';
import { countLostLines } from './log-metrics.ts';
import type {
  ChangedMessage,
  FromChild,
  HealthMessage,
  PartKind,
  ReadyNews,
  StartMessage,
  ToChild,
} from './messages.ts';
import { addProcessMetrics, type CollectedMetrics, collectMetrics } from './process-metrics.ts';
import type { WorkerVitals } from './worker-vitals.ts';

export interface PartContext extends Omit<StartMessage, 'kind' | 'part'> {
  readonly log: Logger;
  readonly registry: Registry;
  send(message: FromChild): void;
}

export interface RunningPart {
  readonly news?: ReadyNews;
  /** Makes sure that the change is in force here. */
  applyChange?(change: ChangedMessage): void;
  /** Every worker runs the change with this id; `isRun` is false if there is no worker, so that the feed retries. */
  confirm?(id: number, isRun: boolean): void;
  /** Takes the outcome of the feed's request with this id; without an outcome the feed asks again. */
  takeOutcome?(id: number, outcome: PrefetchOutcome | undefined): void;
  /** Fetches an object into the store. Never rejects. */
  prefetch?(request: PrefetchRequest): Promise<PrefetchOutcome>;
  /** Notes the origins that a worker uses; implemented by the part that probes them. */
  noteOriginUses?(uses: readonly OriginUse[]): void;
  applyOriginProbes?(report: ProbeReport): void;
  /** Adds what another worker has counted. */
  applyRates?(counts: RateCounts): void;
  useTicketSecrets?(secrets: readonly TicketSecret[]): void;
  /** Notes the vitals of a worker; implemented by the part that checks the edge. */
  noteVitals?(vitals: WorkerVitals): void;
  /** Sets the word of the health page. */
  useHealth?(word: HealthMessage['word']): void;
  useLogWriters?(names: readonly string[]): void;
  /** Sets the logs that somebody follows; implemented by parts that write logs. */
  useTails?(tails: readonly Tail[]): void;
  /** Takes lines that somebody follows. */
  takeLines?(lines: TailedLines): void;
  /** Stops listening and resolves when the last connection has ended. */
  drain?(limits: DrainLimits): Promise<void>;
  /** Takes no new work; requests in flight have `graceMs` to finish. */
  stop(graceMs: number): Promise<void>;
}

export type StartPart = (context: PartContext) => Promise<RunningPart>;

/** Grace for requests in flight after the supervisor died: a new one may be waiting for the same addresses. */
const ORPHAN_GRACE_MS = 1000;

export function runChild(loaders: Readonly<Record<PartKind, () => Promise<StartPart>>>): void {
  ignoreSignals(['SIGINT', 'SIGTERM', 'SIGHUP', ...UNUSED_SIGNALS]);
  let part: Promise<RunningPart> | undefined;
  const onFirst = (message: unknown) => {
    // The other end is our own code of the same checkout, and sends this message first.
    const start = message as StartMessage;
    const { kind: _, part: kind, ...rest } = start;
    const sink = openLogSink(start.name);
    const log = createLogger({ level: start.config.logLevel, name: start.name, destination: sink });
    const registry = new Registry();
    addProcessMetrics(registry);
    countLostLines(registry, sink);
    const collect = () => collectMetrics(registry, { process: start.name, role: kind }, log);
    part = startPart(loaders[kind], { ...rest, log, registry, send });
    process.on('message', (next) => void handle(part, collect, next as ToChild)); // as above; rejects never
  };
  process.once('message', onFirst);
  process.on('disconnect', () => void endAsOrphan(part)); // rejects never
}

function send(message: FromChild): void {
  // A failure means that the supervisor is gone, which `disconnect` reports, too.
  if (process.connected) process.send?.(message, () => {});
}

async function startPart(load: () => Promise<StartPart>, context: PartContext): Promise<RunningPart> {
  process.on('uncaughtException', (error) => {
    context.log.fatal({ err: error }, 'unhandled error; exiting');
    process.exit(1);
  });
  try {
    const start = await load();
    const part = await start(context);
    send({ kind: 'ready', news: part.news ?? {} });
    return part;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    // The supervisor logs the problem. The stack matters only if the engine threw it (a `TypeError`), a bug.
    const isBug = !(error instanceof Error) || error.constructor !== Error;
    context.log[isBug ? 'error' : 'debug']({ err: error }, 'cannot start');
    process.send?.({ kind: 'failed', problem } satisfies FromChild, () => process.exit(1));
    return new Promise(() => {}); // the process ends
  }
}

async function handle(
  starting: Promise<RunningPart> | undefined,
  collect: () => Promise<CollectedMetrics>,
  message: ToChild,
): Promise<void> {
  if (message.kind === 'metrics') return send({ kind: 'metrics', id: message.id, metrics: await collect() });
  const part = await starting;
  switch (message.kind) {
    case 'changed':
      part?.applyChange?.(message);
      return send({ kind: 'inForce', id: message.id });
    case 'confirmed':
      return part?.confirm?.(message.id, message.isRun);
    case 'prefetch': {
      const outcome = await part?.prefetch?.(message.request);
      return send({ kind: 'prefetched', id: message.id, ...(outcome !== undefined && { outcome }) });
    }
    case 'prefetched':
      return part?.takeOutcome?.(message.id, message.outcome);
    case 'originUses':
      return part?.noteOriginUses?.(message.uses);
    case 'originProbes':
      return part?.applyOriginProbes?.(message.report);
    case 'clientRates':
      return part?.applyRates?.(message.counts);
    case 'ticketSecrets':
      return part?.useTicketSecrets?.(message.secrets);
    case 'vitals':
      return part?.noteVitals?.(message.vitals);
    case 'health':
      return part?.useHealth?.(message.word);
    case 'tails':
      return part?.useTails?.(message.tails);
    case 'tailed':
      return part?.takeLines?.(message);
    case 'logWriters':
      return part?.useLogWriters?.(message.names);
    case 'drain':
      await part?.drain?.(message);
      return process.exit(0);
    case 'stop':
      await part?.stop(message.graceMs);
      return process.exit(0);
    case 'start':
      return; // only ever the first message
  }
}

/** Data on disk is safe without an orderly end; only viewers get a moment. */
async function endAsOrphan(starting: Promise<RunningPart> | undefined): Promise<void> {
  setTimeout(() => process.exit(1), ORPHAN_GRACE_MS);
  const part = await starting;
  if (part?.applyChange === undefined) process.exit(1);
  await part.stop(ORPHAN_GRACE_MS);
  process.exit(1);
}
