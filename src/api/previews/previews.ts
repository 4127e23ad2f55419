/**
 * Streams that sessions of browsers play through this control: an edge that has the stream is asked for it, and uploads
 * it for as long as it is played. No more is kept than is on its way. docs/decisions/0702
 */
import { PassThrough, type Readable } from 'node:stream';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Asks } from '#feed/publish/asks.ts';
import type { Logger } from '#lib/logger.ts';
import { shareOfLimit } from '#model/control.ts';
import type { StreamName } from '#model/live-stream.ts';

/** Streams of all sessions at once. Controls share them, and each has at least one. */
const MAX_IN_ALL = 8;
/** Streams of the sessions of one account at once, so that no customer has all of them. */
const MAX_OF_ACCOUNT = 4;
/** Time for an edge to begin. */
const BEGIN_MS = 5_000;
/** Interval of asking whether the session may still play. */
const CHECK_MS = 1_000;
/** Time in which a reader takes what was on its way when the preview ended. */
const END_MS = 5_000;

export interface PreviewsOptions {
  readonly db: Pick<Db, 'onMessage' | 'tellControls'>;
  /** Absent: there are no edges to ask. */
  readonly asks?: Pick<Asks, 'ask'> | undefined;
  /** The controls that share limits; absent: this one is alone. */
  readonly peers?: { readonly seen: number } | undefined;
  readonly log: Logger;
}

export interface AskedPreview {
  readonly sessionId: number;
  /** The account that the session looks at. */
  readonly accountId: number | undefined;
  readonly stream: StreamName;
  /** Groups of edges that serve the domain. */
  readonly groups: readonly string[];
  readonly limitMs: number;
  /** Why the session may play it no longer, as a code; `undefined`: it may. Rejects if that is not known. */
  readonly whyEnded: () => Promise<string | undefined>;
}

/** A message to other controls: the session plays here now. */
interface Message {
  readonly kind: 'preview';
  readonly sessionId: number;
}

export class Previews implements Disposable {
  readonly #options: PreviewsOptions;
  readonly #open = new Map<number, Preview>();
  readonly #unsubscribe: () => void;

  constructor(options: PreviewsOptions) {
    this.#options = options;
    this.#unsubscribe = options.db.onMessage((text) => this.#take(JSON.parse(text)));
  }

  get size(): number {
    return this.#open.size;
  }

  /** Ends what the session plays, and resolves with the stream as FLV when an edge sends it, or with why not. */
  async open(asked: AskedPreview): Promise<Readable | ServiceError> {
    const { sessionId, accountId } = asked;
    this.#open.get(sessionId)?.end();
    this.#tell({ kind: 'preview', sessionId });
    const ofAccount = [...this.#open.values()].filter((other) => other.accountId === accountId).length;
    if (this.#open.size >= this.#share(MAX_IN_ALL) || ofAccount >= this.#share(MAX_OF_ACCOUNT)) return full();
    const preview = new Preview(asked, () => {
      if (this.#open.get(sessionId) === preview) this.#open.delete(sessionId);
    });
    this.#open.set(sessionId, preview);
    if (!preview.ask(this.#options.asks)) return full();
    if (await preview.hasBegun()) return preview.body;
    return new ServiceError('previewSilent', { seconds: BEGIN_MS / 1000 });
  }

  /** Ends all, because control stops. */
  end(): void {
    for (const preview of [...this.#open.values()]) preview.end();
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
    this.end();
  }

  #share(limit: number): number {
    return Math.floor(shareOfLimit(limit, this.#options.peers?.seen ?? 1));
  }

  /** Other controls send questions and answers in the same way. */
  #take({ kind, sessionId }: Message): void {
    if (kind === 'preview') this.#open.get(sessionId)?.end();
  }

  #tell(message: Message): void {
    this.#options.db.tellControls(JSON.stringify(message)).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'cannot send a message to the other controls');
    });
  }
}

class Preview {
  readonly body = new PassThrough();
  readonly #asked: AskedPreview;
  readonly #onEnd: () => void;
  readonly #begun = Promise.withResolvers<boolean>();
  readonly #timers: readonly NodeJS.Timeout[];
  #question: Disposable | undefined;
  #upload: Readable | undefined;
  #isAsking = false;
  #isOver = false;

  constructor(asked: AskedPreview, onEnd: () => void) {
    this.#asked = asked;
    this.#onEnd = onEnd;
    this.body.once('close', () => this.end());
    this.#timers = [
      setTimeout(() => this.end(), asked.limitMs),
      setTimeout(() => this.#endUnlessBegun(), BEGIN_MS),
      setInterval(() => void this.#check(), CHECK_MS), // never rejects
    ];
  }

  get accountId(): number | undefined {
    return this.#asked.accountId;
  }

  /** Asks the edges of the domain. Returns false, and ends, if too many questions are open. */
  ask(asks: PreviewsOptions['asks']): boolean {
    const { stream, groups, limitMs } = this.#asked;
    const content = { kind: 'preview', ...stream };
    this.#question = asks?.ask({ content, limitMs, asked: { groups, isOne: false } }, ignoreAnswer, ({ body }) =>
      this.#takeUpload(body),
    );
    if (this.#question === undefined) this.end();
    return this.#question !== undefined;
  }

  /** Resolves when an edge sends the stream, or with false when it has ended before. */
  hasBegun(): Promise<boolean> {
    return this.#begun.promise;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#question?.[Symbol.dispose]();
    this.#upload?.unpipe(this.body);
    this.#upload?.destroy();
    this.body.end();
    setTimeout(() => this.body.destroy(), END_MS).unref();
    this.#begun.resolve(false);
    this.#onEnd();
  }

  /** The first edge that has the stream is taken. */
  #takeUpload(upload: Readable): boolean {
    if (this.#isOver || this.#upload !== undefined) return false;
    this.#upload = upload;
    upload.once('close', () => this.end());
    upload.on('error', () => undefined); // its end is seen by `close`
    upload.pipe(this.body);
    this.#begun.resolve(true);
    return true;
  }

  #endUnlessBegun(): void {
    if (this.#upload === undefined) this.end();
  }

  async #check(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    // A database that is away says nothing about the session.
    const reason = await this.#asked.whyEnded().catch(() => undefined);
    this.#isAsking = false;
    if (reason !== undefined) this.end();
  }
}

function full(): ServiceError {
  return new ServiceError('previewsFull', { limit: MAX_IN_ALL, own: MAX_OF_ACCOUNT });
}

function ignoreAnswer(): void {} // the answer is the upload
