/** An origin's body on its way to the client, and at the same time into the store where it may be kept. */

import type { Readable } from 'node:stream';
import type { EdgeContext } from '../context.ts';
import { TakenBack } from '../origin/attempt.ts';
import type { ClientLag } from '../store/client-lag.ts';
import type { AnswerBody, Fill } from './answer.ts';
import { BufferedSender, type Recipient } from './buffered-sender.ts';
import { type FetchRest, followBody } from './follow-body.ts';
import { createUnreadLimit, FINISH_BELOW_BYTES, type UnreadLimit } from './unread.ts';

/** The receiver of the body besides the store. */
interface Receiver {
  readonly to: Recipient;
  readonly outlet: BufferedSender;
  readonly lag: ClientLag;
  readonly options: StreamOptions;
}

type StreamOptions = Pick<EdgeContext, 'lag' | 'pins' | 'buffers' | 'unreadFetchMs'>;

/**
 * Streams a body at the origin's pace: what the client has not taken is read from what the store gathers, as far as
 * that budget allows, else it waits in a buffer; when the buffer is full, the client sets the pace. A body that breaks
 * off cuts the client and is not stored. Returns false if it broke off before the client had anything. Never rejects.
 */
export async function streamToViewer(
  to: Recipient,
  source: Readable,
  fill: Fill | undefined,
  options: StreamOptions,
): Promise<boolean> {
  const lag = options.lag.open();
  const limit = createUnreadLimit(source, fill, options.unreadFetchMs);
  const outlet = new BufferedSender(to, options.buffers);
  const isAnswered = await streamBody({ to, outlet, lag, options }, source, fill, limit);
  outlet.close();
  lag.close();
  return isAnswered;
}

/** Streams a body into the store alone, without a time limit: the caller sets one. Never rejects. */
export async function streamToStore(source: Readable, fill: Fill | undefined): Promise<void> {
  await streamBody(undefined, source, fill, undefined);
}

/** Streams a body as if the client had left at once. Never rejects. */
export async function streamUnread(
  source: Readable,
  fill: Fill | undefined,
  { unreadFetchMs }: Pick<StreamOptions, 'unreadFetchMs'>,
): Promise<void> {
  const limit = createUnreadLimit(source, fill, unreadFetchMs);
  limit.start(0);
  await streamBody(undefined, source, fill, limit);
}

/** Drops an answer that is not sent to this client: a body that may be stored, or is read by others, goes on. */
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
    body.origin.on('error', () => undefined); // nobody waits for it
    body.origin.destroy();
  }
  if (body.kind !== 'stream' && body.kind !== 'fill') return;
  body.stream.on('error', () => undefined); // nobody waits for it
  body.stream.destroy();
  body.fill?.writer.discard();
  body.fill?.onEnd?.();
}

async function streamBody(
  receiver: Receiver | undefined,
  source: Readable,
  fill: Fill | undefined,
  limit: UnreadLimit | undefined,
): Promise<boolean> {
  const viewer = receiver?.to.viewer;
  let left: LeftBehind | undefined;
  try {
    left = await pump(receiver, source, fill, limit);
  } catch (error) {
    // The origin's body broke off: the client is to see that its answer is not whole.
    fill?.writer.discard();
    if (viewer?.isBegun === false) return viewer.isGone;
    viewer?.cut(error instanceof TakenBack ? 503 : 502);
    return true;
  } finally {
    limit?.stop();
    fill?.onEnd?.();
  }
  if (left === undefined) {
    await receiver?.outlet.end();
    await viewer?.end();
  } else await left.following;
  return true;
}

/** The client was too slow to be waited for, and reads along like those who came later. */
interface LeftBehind {
  readonly following: Promise<boolean>;
}

async function pump(
  receiver: Receiver | undefined,
  source: Readable,
  fill: Fill | undefined,
  limit: UnreadLimit | undefined,
): Promise<LeftBehind | undefined> {
  let viewer = receiver?.to.viewer;
  let left: LeftBehind | undefined;
  let gathered = 0;
  const leave = () => {
    if (fill?.shared?.hasReaders === true) fill.shared.onUnread = leave;
    else if (isWorthFinishing(fill)) limit?.start(gathered);
    else source.destroy();
  };
  viewer?.signal.addEventListener('abort', leave, { once: true });
  if (viewer?.isGone === true) leave();
  for await (const chunk of source) {
    // A Readable without an encoding or object mode gives Buffers.
    const bytes: Buffer = chunk;
    gathered += bytes.length;
    const isGathering = fill?.writer.add(bytes) ?? false;
    fill?.shared?.push(bytes);
    const hasRoom = viewer === undefined || receiver?.outlet.write(bytes) !== false;
    const isWatched = viewer?.isGone === false;
    limit?.note(gathered);
    // Nobody wants the rest; leaving the loop drops it.
    if (!isWatched && !isGathering && fill?.shared?.hasReaders !== true) break;
    // Nobody waits but the disk; or those who fall behind are to find the rest there.
    if (!isWatched || fill?.shared?.hasReaders === true) await fill?.writer.drained?.();
    if (!isGathering) {
      fill?.shared?.noteUnstored();
      await fill?.shared?.room();
    }
    if (hasRoom || viewer === undefined || receiver === undefined) continue;
    const { to, outlet, lag, options } = receiver;
    const mayLag = isGathering && !outlet.isBuffering;
    if (mayLag && lag.note(viewer.queuedBytes)) continue;
    // With a length that the store has accepted, the rest will be there to be read.
    if (mayLag && fill?.shared !== undefined && fill.announcedBytes !== undefined) {
      const onDrained = () => void lag.note(0);
      const { fetchRest = nowhere } = fill;
      const { pins, buffers } = options;
      left = { following: followBody(to, fill.shared, { fetchRest, pins, buffers, at: gathered, onDrained }) };
      viewer = undefined;
    } else {
      await outlet.room(source);
    }
  }
  receiver?.to.viewer.signal.removeEventListener('abort', leave);
  if (fill?.shared !== undefined) fill.shared.onUnread = undefined;
  endFill(source, fill, gathered);
  return left;
}

/** `fetchRest` of a body that was not shared. */
const nowhere: FetchRest = async () => undefined;

function endFill(source: Readable, fill: Fill | undefined, gathered: number): void {
  // RFC 9111 §3.3
  if (fill?.announcedBytes !== undefined && gathered !== fill.announcedBytes) {
    fill.writer.discard();
    return;
  }
  const body = fill?.writer.finish();
  if (body !== undefined) fill?.onWhole(body);
  if (source.readableEnded) fill?.shared?.finish(body);
}

function isWorthFinishing(fill: Fill | undefined): boolean {
  if (fill === undefined || !fill.writer.isOpen) return false;
  const { announcedBytes, writer } = fill;
  if ((announcedBytes ?? writer.sizeBytes) < FINISH_BELOW_BYTES) return true;
  return announcedBytes !== undefined && writer.sizeBytes * 2 > announcedBytes;
}
