/** Streams an origin's body to the client and, if it may be stored, into the store at the same time. */
import type { Readable } from 'node:stream';
import { after, type Eventual, Future, recover } from '#lib/future.ts';
import { isLargeChunk, PagedCopies } from '#lib/joined-chunks.ts';
import type { EdgeContext } from '../context.ts';
import { discardBody, type OriginBody, TakenBack } from '../origin/origin-request.ts';
import { OwnBody } from '../origin/own/body.ts';
import type { ClientLag } from '../store/client-lag.ts';
import type { Release } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import { BufferedSender, type Recipient } from './buffered-sender.ts';
import type { AnswerBody, Fill } from './edge-answer.ts';
import { type FetchRest, followBody } from './follow-body.ts';
import { Pin } from './pins.ts';
import { FINISH_BELOW_BYTES, UnreadLimit } from './unread.ts';

/** The receiver of the body besides the store. */
interface Receiver {
  readonly to: Recipient;
  readonly outlet: BufferedSender;
  readonly lag: ClientLag;
  readonly options: StreamOptions;
}

type StreamOptions = Pick<EdgeContext, 'lag' | 'pins' | 'buffers' | 'unreadFetchMs'>;

/**
 * Streams a body at the origin's pace. A client that falls behind reads from the body being stored, as far as the
 * budget allows; otherwise the bytes wait in a buffer, and once that is full, backpressure reaches the origin. If the
 * origin's body breaks off, the client's answer is cut and nothing is stored. Returns false if it broke off before
 * anything was sent to the client. Never rejects.
 */
export function streamToViewer(
  to: Recipient,
  source: OriginBody,
  fill: Fill | undefined,
  options: StreamOptions,
): Eventual<boolean> {
  const lag = options.lag.open();
  const limit = new UnreadLimit(source, fill, options.unreadFetchMs);
  const outlet = new BufferedSender(to, options.buffers);
  return after(streamBody({ to, outlet, lag, options }, source, fill, limit), (isAnswered) => {
    outlet.close();
    lag.close();
    return isAnswered;
  });
}

/** Streams a body into the store alone, without a time limit: the caller sets one. Never rejects. */
export function streamToStore(source: OriginBody, fill: Fill | undefined): Eventual<void> {
  return after(streamBody(undefined, source, fill, undefined), () => undefined);
}

/** Streams a body as if the client had left at once. Never rejects. */
export function streamUnread(
  source: OriginBody,
  fill: Fill | undefined,
  { unreadFetchMs }: Pick<StreamOptions, 'unreadFetchMs'>,
): Eventual<void> {
  const limit = new UnreadLimit(source, fill, unreadFetchMs);
  limit.start(0);
  return after(streamBody(undefined, source, fill, limit), () => undefined);
}

/**
 * Drops an answer that is not sent to this client. A body that is being stored or read by other clients is still
 * fetched.
 */
export function leaveToStore(body: AnswerBody, options: Pick<StreamOptions, 'unreadFetchMs'>): void {
  if ((body.kind === 'stream' || body.kind === 'fill') && body.fill !== undefined) {
    void streamUnread(body.stream, body.fill, options); // never rejects
  } else {
    abandonBody(body);
  }
}

/** Drops an answer that is not sent after all: the origin's connection and the store's memory are released. */
export function abandonBody(body: AnswerBody): void {
  if (body.kind === 'tunnel') {
    body.origin.on('error', () => undefined); // the tunnel is abandoned, so its errors do not matter
    body.origin.destroy();
  }
  if (body.kind !== 'stream' && body.kind !== 'fill') return;
  discardBody({ body: body.stream });
  body.fill?.writer.discard();
  body.fill?.onEnd?.();
}

function streamBody(
  receiver: Receiver | undefined,
  source: OriginBody,
  fill: Fill | undefined,
  limit: UnreadLimit | undefined,
): Eventual<boolean> {
  const viewer = receiver?.to.viewer;
  const passage = new Passage(receiver, source, fill, limit);
  const passed = recover<Passed>(
    () => after(pump(passage, source), () => WHOLE),
    (error) => ({ kind: 'broken', error }),
  );
  const ended = after(passed, (result) => {
    passage.detach(); // before the client is cut
    fill?.writer.discard();
    limit?.stop();
    fill?.onEnd?.();
    if (result.kind === 'broken') {
      // The origin's body broke off: cut the answer so that the client notices that it is incomplete.
      if (viewer?.isBegun === false) return viewer.isGone;
      viewer?.cut(result.error instanceof TakenBack ? 503 : 502);
      return true;
    }
    if (passage.left !== undefined) return after(passage.left.following, () => true);
    return after(receiver?.outlet.end(), () => after(viewer?.end(), () => true));
  });
  return after(ended, (isAnswered) => {
    passage.release();
    return isAnswered;
  });
}

type Passed = { readonly kind: 'whole' } | { readonly kind: 'broken'; readonly error: unknown };

const WHOLE: Passed = { kind: 'whole' };

/** The client was too slow to wait for. It now reads the stored bytes, as later readers of the body do. */
interface LeftBehind {
  readonly following: Promise<boolean>;
}

function pump(passage: Passage, source: OriginBody): Eventual<void> {
  passage.begin();
  const taken = source instanceof OwnBody ? takeOwn(passage, source) : takeStream(passage, source);
  return after(taken, (isWhole) => passage.end(isWhole));
}

/** Returns whether the whole body was taken; `false` if nobody wants the rest. Throws if it breaks off. */
async function takeStream(passage: Passage, source: Readable): Promise<boolean> {
  source.once('error', passage.onCut);
  for await (const chunk of source) {
    // A Readable without an encoding or object mode gives Buffers.
    const bytes: Buffer = chunk;
    const wait = passage.take(bytes, false);
    if (passage.isUnwanted) return false; // leaving the loop destroys the source
    if (wait !== undefined) await wait;
  }
  return source.readableEnded;
}

/**
 * Like `takeStream`, for a body of our own HTTP client. Its bytes are lent: they are copied only if they cannot be sent
 * at once.
 */
function takeOwn(passage: Passage, source: OwnBody): Future<boolean> {
  const taken = new Future<boolean>();
  let isWaiting = false;
  let end: 'whole' | Error | undefined;
  const settle = () => {
    if (passage.isUnwanted) taken.resolve(false);
    else if (end === 'whole') taken.resolve(true);
    else if (end !== undefined) taken.reject(end);
    else source.resume();
  };
  // A bug here must end only this request: the caller of `onChunk` catches nothing.
  const fail = (error: unknown) => {
    taken.reject(error);
    source.destroy();
  };
  const take = (bytes: Buffer) => {
    const wait = passage.take(bytes, true);
    if (passage.isUnwanted) return void source.destroy();
    if (wait === undefined) return;
    isWaiting = true;
    source.pause();
    wait.then(() => {
      isWaiting = false;
      settle();
    }, fail);
  };
  source.start({
    onChunk: (bytes) => {
      try {
        take(bytes);
      } catch (error) {
        fail(error);
      }
    },
    onEnd: () => {
      end = 'whole';
      if (!isWaiting) settle();
    },
    onCut: (error) => {
      end = error;
      passage.onCut();
      if (!isWaiting) settle();
    },
  });
  return taken;
}

/** Passes a body from its source to the receiver and the store, chunk by chunk. */
class Passage {
  readonly #receiver: Receiver | undefined;
  readonly #source: OriginBody;
  readonly #fill: Fill | undefined;
  readonly #limit: UnreadLimit | undefined;
  /** `undefined`: only the store and its readers receive the body. */
  #viewer: Viewer | undefined;
  readonly #copies = new PagedCopies();
  #gathered = 0;
  /** Ends the hold on the store's memory that the receiver was given. */
  #release: Release | undefined;
  /** Counts that memory while the receiver is waited for. */
  readonly #pin: Pin | undefined;
  /** Neither the client, the store nor a reader wants the rest. */
  isUnwanted = false;
  left: LeftBehind | undefined;

  constructor(
    receiver: Receiver | undefined,
    source: OriginBody,
    fill: Fill | undefined,
    limit: UnreadLimit | undefined,
  ) {
    this.#receiver = receiver;
    this.#source = source;
    this.#fill = fill;
    this.#limit = limit;
    this.#viewer = receiver?.to.viewer;
    this.#pin = receiver && new Pin(receiver.options.pins, receiver.to.viewer);
  }

  begin(): void {
    this.#viewer?.signal.addEventListener('abort', this.#leave, { once: true });
    if (this.#viewer?.isGone === true) this.#leave();
  }

  readonly #leave = (): void => {
    const fill = this.#fill;
    if (fill?.shared?.hasReaders === true) fill.shared.onUnread = this.#leave;
    else if (isWorthFinishing(fill)) this.#limit?.start(this.#gathered);
    else this.#source.destroy();
  };

  /** The source has failed: stops waiting for the receiver. */
  readonly onCut = (): void => this.#receiver?.outlet.close();

  /**
   * Takes the next bytes of the body. Returns a promise to await before the next call, or `undefined` if there is
   * nothing to wait for. `isLent`: the caller reuses the memory of `bytes`.
   */
  take(bytes: Buffer, isLent: boolean): Promise<void> | undefined {
    const fill = this.#fill;
    const viewer = this.#viewer;
    this.#gathered += bytes.length;
    const isGathering = fill?.writer.add(bytes) ?? false;
    const own = fill === undefined ? undefined : this.#keep(fill, bytes, isLent);
    const hasRoom = viewer === undefined || this.#write(own ?? bytes, isLent && own === undefined);
    const isWatched = viewer?.isGone === false;
    const hasReaders = fill?.shared?.hasReaders === true;
    this.#limit?.note(this.#gathered);
    if (!isWatched && !isGathering && !hasReaders) {
      this.isUnwanted = true;
      return undefined;
    }
    // Wait for the disk if no client sets the pace, or if readers that fall behind must find the rest there.
    const drained = isWatched && !hasReaders ? undefined : fill?.writer.drained?.();
    if (drained === undefined && (isGathering || fill?.shared === undefined) && hasRoom) return undefined;
    return this.#wait(drained, isGathering, hasRoom);
  }

  /**
   * Returns the bytes in memory that is valid while the receiver needs it; `undefined` if they are not kept, or not in
   * one piece.
   */
  #keep({ writer, shared }: Fill, bytes: Buffer, isLent: boolean): Buffer | undefined {
    const { pieces, memory } = writer;
    this.#release ??= memory?.hold();
    for (const piece of pieces) shared?.push(piece, memory);
    if (pieces.length > 0) return pieces.length === 1 ? pieces[0] : undefined;
    if (shared === undefined) return undefined;
    const own = isLent || !isLargeChunk(bytes) ? this.#copies.copy(bytes) : bytes;
    shared.push(own);
    return own;
  }

  #write(bytes: Buffer, isLent: boolean): boolean {
    const outlet = this.#receiver?.outlet;
    if (outlet === undefined) return true;
    return isLent ? outlet.writeLent(bytes) : outlet.write(bytes);
  }

  async #wait(drained: Promise<void> | undefined, isGathering: boolean, hasRoom: boolean): Promise<void> {
    const fill = this.#fill;
    if (!hasRoom) this.#pin?.hold(fill?.writer.memory);
    const viewer = this.#viewer;
    const receiver = this.#receiver;
    if (drained !== undefined) await drained;
    if (!isGathering) {
      fill?.shared?.noteUnstored();
      await fill?.shared?.room();
    }
    if (hasRoom || viewer === undefined || receiver === undefined) return;
    const { to, outlet, lag, options } = receiver;
    const mayLag = isGathering && !outlet.isBuffering;
    if (mayLag && lag.note(viewer.queuedBytes)) return;
    // The store has accepted the announced length, so the receiver can read the rest from there.
    if (mayLag && fill?.shared !== undefined && fill.announcedBytes !== undefined) {
      const onDrained = () => void lag.note(0);
      const { fetchRest = nowhere } = fill;
      const { pins, buffers } = options;
      const at = this.#gathered;
      this.left = { following: followBody(to, fill.shared, { fetchRest, pins, buffers, at, onDrained }) };
      this.#viewer = undefined;
    } else {
      await outlet.room();
    }
  }

  /** Stops watching for the client to leave. To be called when the source has ended, complete or not. */
  detach(): void {
    this.#receiver?.to.viewer.signal.removeEventListener('abort', this.#leave);
  }

  /** `isWhole`: the source ended normally. */
  end(isWhole: boolean): void {
    const fill = this.#fill;
    if (fill?.shared !== undefined) fill.shared.onUnread = undefined;
    endFill(isWhole, fill, this.#gathered);
  }

  /** Releases the store's memory. To be called when the receiver has the answer or is gone. */
  release(): void {
    this.#release?.();
    this.#pin?.[Symbol.dispose]();
  }
}

/** `fetchRest` of a body that was not shared. */
const nowhere: FetchRest = async () => undefined;

function endFill(isWhole: boolean, fill: Fill | undefined, gathered: number): void {
  // RFC 9111 §3.3
  if (fill?.announcedBytes !== undefined && gathered !== fill.announcedBytes) return;
  const body = fill?.writer.finish();
  if (body !== undefined) fill?.onWhole(body);
  if (isWhole) fill?.shared?.finish(body);
}

function isWorthFinishing(fill: Fill | undefined): boolean {
  if (fill === undefined || !fill.writer.isOpen) return false;
  const { announcedBytes, writer } = fill;
  if ((announcedBytes ?? writer.sizeBytes) < FINISH_BELOW_BYTES) return true;
  return announcedBytes !== undefined && writer.sizeBytes * 2 > announcedBytes;
}
