/**
 * The compressions in flight in a worker. Single flight: clients that want the same coded form share one. Limited by
 * memory and the thread pool. docs/decisions/0122
 */
import { Readable } from 'node:stream';
import type { Logger } from '#lib/logger.ts';
import type { EdgeMetrics } from '../metrics.ts';
import type { OriginBody } from '../origin/origin-request.ts';
import { asReadable } from '../origin/own/body.ts';
import type { LagBudget } from '../store/client-lag.ts';
import { Holds } from '../store/holds.ts';
import { SharedBody } from '../store/shared-body.ts';
import type { CacheStore, StoredBody } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import { type CodedForm, codedKey, putCoded } from './coded-form.ts';
import { type Coder, createCoder, encode, type InTurn } from './coder.ts';
import { MAX_COMPRESSED_BYTES } from './compressible.ts';
import type { FetchRest } from './follow-body.ts';
import { readShared } from './read-shared.ts';

/** Limit of concurrent compressions, of up to 6 MiB each; further bodies are not compressed. */
const MAX_OPEN = 32;
/** Limit of one site, whose slow origin or clients must not take all of them. */
const MAX_OPEN_PER_SITE = 16;
/** Limit of thread-pool threads for compressions; the others are for the disk. */
const MAX_TURNS = 2;
/**
 * Bytes of a source of unknown length after which the slowest reader sets the pace, as the body may be too large to
 * store.
 */
const MAX_UNPACED_BYTES = 3 * 1024 * 1024;

export interface Compressions {
  /** Returns a compression in flight that can still be read from its beginning. */
  join(form: CodedForm, viewer: Viewer): SharedBody | undefined;
  /**
   * Joins a compression, or starts one. Returns `undefined` if there are too many, or the source's beginning is gone.
   */
  share(form: CodedForm, source: Source, viewer: Viewer): SharedBody | undefined;
  /**
   * Compresses for one client alone; destroying the returned stream destroys the source. Returns `undefined`, with the
   * source untouched, if there are too many.
   */
  wrap(form: Pick<CodedForm, 'siteId' | 'coding'>, source: OriginBody): Readable | undefined;
}

type Source = { readonly bodyBytes: number | undefined } & (
  | { readonly kind: 'stored'; readonly body: StoredBody }
  | { readonly kind: 'shared'; readonly shared: SharedBody; readonly fetchRest: FetchRest }
);

interface CompressionParts {
  readonly store: CacheStore;
  readonly lag: LagBudget;
  readonly metrics: Pick<EdgeMetrics, 'countCompression'>;
  readonly log: Logger;
}

export function createCompressions(parts: CompressionParts): Compressions {
  const underWay = new Map<string, Shared>();
  const inTurn = createTurns(MAX_TURNS);
  const slot = createSlots();
  const open = ({ siteId, coding }: Pick<CodedForm, 'siteId' | 'coding'>) => {
    const close = slot(siteId);
    parts.metrics.countCompression(coding, close === undefined ? 'refused' : 'made');
    return close;
  };
  const join = (form: CodedForm, viewer: Viewer): SharedBody | undefined => {
    const shared = underWay.get(nameOf(form));
    return shared?.canJoin === true ? shared.joinedBy(viewer) : undefined;
  };
  return {
    join,
    share: (form, source, viewer) => {
      const name = nameOf(form);
      if (underWay.has(name)) return join(form, viewer);
      if (source.kind === 'shared' && !source.shared.isOpen) return undefined;
      const close = open(form);
      if (close === undefined) return undefined;
      const holds = new Holds();
      if (source.kind === 'stored') holds.hold(source.body); // the request that started it may end before it
      const shared = new Shared(parts, form, source);
      underWay.set(name, shared);
      const end = () => {
        underWay.delete(name);
        holds.release();
        close();
      };
      void shared.run(inTurn).then(end); // never rejects
      return shared.joinedBy(viewer);
    },
    wrap: (form, source) => {
      const close = open(form);
      if (close === undefined) return undefined;
      return codedStream(asReadable(source), createCoder(form.coding), inTurn, close);
    },
  };
}

/** Returns a stream that destroys a silent source at once; `Readable.from` would wait for its next piece. */
function codedStream(source: Readable, coder: Coder, inTurn: InTurn, onEnd: () => void): Readable {
  source.on('error', () => undefined); // the reader gets the error
  const pieces = encode(source, coder, inTurn);
  return new Readable({
    read() {
      const give = ({ done, value }: IteratorResult<Buffer>) => void this.push(done === true ? null : value);
      void pieces.next().then(give, (error: unknown) => void this.destroy(toError(error)));
    },
    destroy(error, done) {
      coder.close();
      source.destroy();
      onEnd();
      done(error);
    },
  });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the body broke off', { cause: error });
}

/** Returns a name for the form of this very response: two responses of one key may be in flight. */
function nameOf(form: CodedForm): string {
  const { requestAt, varyKey } = form.of;
  return `${codedKey(form)}\n${requestAt} ${varyKey}`;
}

/** One compression and its readers. It runs at the source's pace, and its complete result is stored. */
class Shared {
  readonly shared: SharedBody;
  readonly #parts: CompressionParts;
  readonly #form: CodedForm;
  readonly #source: Source;
  readonly #left = new AbortController();
  #viewers = 0;
  #readBytes = 0;

  constructor(parts: CompressionParts, form: CodedForm, source: Source) {
    this.#parts = parts;
    this.#form = form;
    this.#source = source;
    this.shared = new SharedBody(form.of, undefined, parts.lag.open());
  }

  /** Whether the first byte is still available and the compression was not abandoned. */
  get canJoin(): boolean {
    return this.shared.isOpen && !this.#left.signal.aborted;
  }

  joinedBy(viewer: Viewer): SharedBody {
    this.#viewers++;
    const leave = () => {
      if (--this.#viewers === 0) this.#left.abort();
    };
    if (viewer.isGone) leave();
    else viewer.signal.addEventListener('abort', leave, { once: true });
    return this.shared;
  }

  /** Never rejects. */
  async run(inTurn: InTurn): Promise<void> {
    const { shared } = this;
    const { store, log } = this.#parts;
    const writer = store.openWriter();
    let madeBytes = 0;
    try {
      for await (const bytes of encode(this.#read(), createCoder(this.#form.coding), inTurn)) {
        if (this.#readBytes > MAX_COMPRESSED_BYTES) writer.discard();
        madeBytes += bytes.length;
        writer.add(bytes);
        shared.push(bytes);
        if (!writer.isOpen) shared.noteUnstored();
        await writer.drained?.();
        const mayTurnOutTooLarge = this.#source.bodyBytes === undefined && madeBytes > MAX_UNPACED_BYTES;
        if (!writer.isOpen || mayTurnOutTooLarge) await shared.room();
        if (!this.#isWanted(writer.isOpen)) throw new Error('nobody wants it any more');
      }
      const body = writer.finish();
      if (body !== undefined) putCoded(store, this.#form, this.#readBytes, body);
      shared.finish(body);
    } catch (error) {
      log.debug({ err: error, key: this.#form.key }, 'compression of a response aborted');
      shared.break();
    } finally {
      writer.discard(); // unless it is finished
    }
  }

  async *#read(): AsyncGenerator<Buffer> {
    const source = this.#source;
    const pieces =
      source.kind === 'shared'
        ? readShared(source.shared, { fetchRest: source.fetchRest, signal: this.#left.signal })
        : source.body.read({ first: 0, last: source.body.sizeBytes - 1 });
    for await (const bytes of pieces) {
      this.#readBytes += bytes.length;
      yield bytes;
    }
  }

  /**
   * Whether to go on without readers: a stored body is soon compressed and will be requested again; a fetch is not
   * continued.
   */
  #isWanted(isGathering: boolean): boolean {
    return !this.#left.signal.aborted || (this.#source.kind === 'stored' && isGathering);
  }
}

/** Returns a function that takes a slot and returns its release, or `undefined` if there are too many. */
function createSlots(): (siteId: number) => (() => void) | undefined {
  const bySite = new Map<number, number>();
  let open = 0;
  return (siteId) => {
    const own = bySite.get(siteId) ?? 0;
    if (open >= MAX_OPEN || own >= MAX_OPEN_PER_SITE) return undefined;
    open++;
    bySite.set(siteId, own + 1);
    return () => {
      open--;
      const left = (bySite.get(siteId) ?? 1) - 1;
      if (left === 0) bySite.delete(siteId);
      else bySite.set(siteId, left);
    };
  };
}

function createTurns(max: number): InTurn {
  let free = max;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
