/** Answers control's questions on a machine with edge workers: explanations, lines of logs, live streams, recent traffic. */
import { askLocal } from '#cli/command/ask-local.ts';
import type { ControlLink } from '#feed/client/control-link.ts';
import { postMessage } from '#feed/client/post-message.ts';
import { ANSWERS_PATH, type Ask, type AskTaker, MAX_ANSWER_BYTES } from '#feed/wire/ask-messages.ts';
import type { Logger } from '#lib/logger.ts';
import { writeLiveAnswer } from '#logs/live-answer.ts';
import type { RecentCounts } from '#logs/recent-counts.ts';
import type { LogFilter } from '#logs/tail/filter.ts';
import type { Tail, TailedLines } from '#logs/tail/tail-watch.ts';
import type { StreamName } from '#sites/live.ts';
import type { EdgePreviews } from './edge-previews.ts';

export interface EdgeAsksOptions {
  readonly link: ControlLink;
  readonly edgeId: string;
  /** Sockets of workers. */
  readonly findWorkers: () => readonly string[];
  /** Replaces the tails of all parts that write logs. */
  readonly useTails: (tails: readonly Tail[]) => void;
  readonly previews: EdgePreviews;
  readonly recent: Pick<RecentCounts, 'sumUp'>;
  readonly log: Logger;
}

/** Content of a question, from control of the same release or a newer one. */
type Content =
  | { readonly kind: 'explain'; readonly domainId: number; readonly question: object }
  | { readonly kind: 'tail'; readonly domainId: number; readonly filter: LogFilter }
  | ({ readonly kind: 'preview' } & StreamName)
  | { readonly kind: 'live'; readonly domainIds: readonly number[]; readonly last: number };

/** Questions at once. */
const MAX_TAILS = 100;
const MAX_EXPLAINING = 20;
/** Lines of one tail that wait while control takes others: those of two seconds. */
const MAX_WAITING = 400;
/** Bytes of lines in one answer, so that it stays below `MAX_ANSWER_BYTES` with what surrounds them. */
const MAX_LINES_BYTES = MAX_ANSWER_BYTES - 500;

/** Longest finding of an explanation. */
const MAX_FOUND_CHARS = 800;
/** Bytes of the findings of an explanation, and of its origins: an answer has both. */
const MAX_STEPS_BYTES = 4_000;
const MAX_ORIGINS_BYTES = 2_500;

interface OpenTail {
  readonly tail: Tail;
  readonly ending: NodeJS.Timeout;
  readonly waiting: string[];
  skipped: number;
  isPosting: boolean;
}

export class EdgeAsks implements AskTaker, Disposable {
  readonly #options: EdgeAsksOptions;
  readonly #tails = new Map<string, OpenTail>();
  readonly #stop = new AbortController();
  #explaining = 0;

  constructor(options: EdgeAsksOptions) {
    this.#options = options;
    options.useTails([]); // a predecessor of this process may have left some
  }

  take({ id, limitMs, content }: Ask): void {
    // `as`: control checks what it asks; a kind of a newer release is not answered.
    const asked = content as Content;
    if (limitMs === 0) this.#close(id);
    else if (asked.kind === 'explain')
      void this.#explain(id, asked); // never rejects
    else if (asked.kind === 'tail') this.#open(id, limitMs, asked);
    else if (asked.kind === 'preview') this.#options.previews.open(id, limitMs, asked);
    else if (asked.kind === 'live') {
      const recent = this.#options.recent.sumUp(asked.domainIds, asked.last);
      void this.#answer(id, { live: recent ? writeLiveAnswer(recent) : null }); // never rejects
    }
  }

  lose(): void {
    this.#options.previews.closeAll();
    for (const id of [...this.#tails.keys()]) this.#close(id);
  }

  /** Takes lines of a part that writes logs. */
  takeLines({ id, lines, skipped }: TailedLines): void {
    const open = this.#tails.get(id);
    if (open === undefined) return;
    const room = MAX_WAITING - open.waiting.length;
    open.waiting.push(...lines.slice(0, room));
    open.skipped += skipped + Math.max(0, lines.length - room);
    void this.#post(id, open); // never rejects
  }

  [Symbol.dispose](): void {
    this.lose();
    this.#stop.abort();
  }

  #open(id: string, limitMs: number, { domainId, filter }: Content & { readonly kind: 'tail' }): void {
    if (this.#tails.has(id) || this.#tails.size >= MAX_TAILS) return;
    const ending = setTimeout(() => this.#close(id), limitMs).unref();
    const tail = { id, domainId, filter };
    this.#tails.set(id, { tail, ending, waiting: [], skipped: 0, isPosting: false });
    this.#useTails();
  }

  #close(id: string): void {
    this.#options.previews.close(id);
    const open = this.#tails.get(id);
    if (open === undefined) return;
    clearTimeout(open.ending);
    this.#tails.delete(id);
    this.#useTails();
  }

  #useTails(): void {
    this.#options.useTails([...this.#tails.values()].map(({ tail }) => tail));
  }

  async #post(id: string, open: OpenTail): Promise<void> {
    if (open.isPosting) return;
    open.isPosting = true;
    while (open.waiting.length > 0 || open.skipped > 0) {
      const lines = takeUpTo(open.waiting, MAX_LINES_BYTES);
      const { skipped } = open;
      open.skipped = 0;
      const isTaken = await this.#answer(id, { lines, skipped });
      if (!this.#tails.has(id)) return;
      if (isTaken) continue;
      open.skipped += skipped + lines.length; // told with the next lines
      break;
    }
    open.isPosting = false;
  }

  async #explain(id: string, { domainId, question }: Content & { readonly kind: 'explain' }): Promise<void> {
    if (this.#explaining >= MAX_EXPLAINING) return;
    this.#explaining += 1;
    try {
      for (const socket of this.#options.findWorkers()) {
        const explanation = await askLocal(socket, { ...question, onlyDomain: domainId });
        if (explanation === undefined) continue; // that worker has ended
        await this.#answer(id, { explanation: shortened(explanation) });
        return;
      }
    } catch (error) {
      this.#options.log.debug({ err: error }, 'cannot explain a request');
      await this.#answer(id, { problem: error instanceof Error ? error.message : 'unknown' });
    } finally {
      this.#explaining -= 1;
    }
  }

  /** Returns false if control did not take it. */
  async #answer(id: string, content: object): Promise<boolean> {
    const { link, edgeId: edge, log } = this.#options;
    try {
      await postMessage(link, ANSWERS_PATH, { edge, id, content }, this.#stop.signal);
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted) log.debug({ err: error }, 'control did not take an answer');
      return false;
    }
  }
}

/**
 * Cuts long findings, such as a key with a long query, and leaves out the last of many origins, so that the answer stays
 * below `MAX_ANSWER_BYTES`.
 */
function shortened(explanation: unknown): object {
  const { steps, origins, ...rest } = Object(explanation);
  return { ...rest, steps: shortenedSteps(steps), origins: origins.slice(0, countWithin(origins, MAX_ORIGINS_BYTES)) };
}

interface Step {
  readonly found: string;
}

function shortenedSteps(steps: readonly Step[], maxChars = MAX_FOUND_CHARS): readonly Step[] {
  const cut = (found: string) => (found.length > maxChars ? `${found.slice(0, maxChars).toWellFormed()}…` : found);
  const shorter = steps.map((step) => ({ ...step, found: cut(step.found) }));
  const fits = countWithin(shorter, MAX_STEPS_BYTES) === shorter.length;
  return fits ? shorter : shortenedSteps(steps, maxChars / 2);
}

/** Takes lines off the front, at least one. */
function takeUpTo(waiting: string[], maxBytes: number): readonly string[] {
  return waiting.splice(0, Math.max(1, countWithin(waiting, maxBytes)));
}

/** Returns how many items from the first on fit into so many bytes of JSON. */
function countWithin(items: readonly unknown[], maxBytes: number): number {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? items.length : end;
}
