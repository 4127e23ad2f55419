/** Asks edges for their health page, at each address that may be handed out. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { formatListenAddress } from '#lib/listen-address.ts';
import type { HealthBook, ProbeResult } from './health-book.ts';

const PROBE_MS = 2000;
/** Probes of many edges drift apart by this share of the interval, either way. */
const JITTER = 0.1;
const LIMIT_MS = 1000;
const MAX_WORD_CHARS = 64;
const HEALTH_PATH = '/.well-known/causeway/health';

export interface HealthTarget {
  readonly address: string;
  readonly port: number;
}

/** The name of a target in a `HealthBook`. */
export function healthKey({ address, port }: HealthTarget): string {
  return formatListenAddress({ host: address, port });
}

export interface EdgeProber extends Disposable {
  /** Probes these from now on, new ones at once. */
  useTargets(targets: readonly HealthTarget[]): void;
  /** Probes since the start, and those that failed. */
  readonly probes: number;
  readonly failures: number;
}

export interface EdgeProberOptions {
  readonly book: HealthBook;
  readonly random: () => number;
  /** Called after each probe. */
  readonly onProbed: () => void;
}

export function startEdgeProber({ book, random, onProbed }: EdgeProberOptions): EdgeProber {
  const timers = new Map<string, NodeJS.Timeout>();
  const counts = { probes: 0, failures: 0 };
  const probe = async (key: string, target: HealthTarget): Promise<void> => {
    const result = await askHealth(target);
    if (!timers.has(key)) return; // no longer wanted
    counts.probes += 1;
    if (result.verdict === 'down') counts.failures += 1;
    book.note(key, result);
    onProbed();
    schedule(key, target, PROBE_MS * (1 - JITTER + 2 * JITTER * random()));
  };
  const schedule = (key: string, target: HealthTarget, inMs: number) =>
    // It never rejects.
    void timers.set(
      key,
      setTimeout(() => void probe(key, target), inMs),
    );
  return {
    get probes() {
      return counts.probes;
    },
    get failures() {
      return counts.failures;
    },
    useTargets(targets) {
      const wanted = new Map(targets.map((target) => [healthKey(target), target]));
      for (const [key, timer] of timers)
        if (!wanted.has(key)) {
          clearTimeout(timer);
          timers.delete(key);
        }
      book.keepOnly(wanted.keys());
      for (const [key, target] of wanted) if (!timers.has(key)) schedule(key, target, 0);
    },
    [Symbol.dispose]() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/**
 * An edge that answers is up, unless it says that it should get no viewers. One that does not show the page to this
 * machine (`health-allow`) answers too. Never rejects.
 */
async function askHealth({ address, port }: HealthTarget): Promise<ProbeResult> {
  const asked = request({
    host: address,
    port,
    path: HEALTH_PATH,
    agent: false,
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  asked.on('error', () => {}); // also after the answer has begun; `once` rejects with the first
  try {
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    if (answer.statusCode !== 503) return { verdict: 'up' };
    let word = '';
    for await (const chunk of answer.setEncoding('utf8')) {
      word += chunk;
      if (word.length > MAX_WORD_CHARS) break;
    }
    return { verdict: 'out', detail: `it says ${word.trim().slice(0, MAX_WORD_CHARS)}` };
  } catch (error) {
    return { verdict: 'down', detail: describe(error) };
  } finally {
    asked.destroy();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'AbortError') return `no answer within ${LIMIT_MS} ms`;
  return 'code' in error ? String(error.code) : error.message;
}
