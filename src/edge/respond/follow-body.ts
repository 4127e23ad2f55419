/** Sends a body that is in transit into the store to a further client. */
import type { Readable } from 'node:stream';
import type { ByteSpan } from '#http/range.ts';
import type { Cancellation } from '#lib/cancellation.ts';
import type { Buffers } from '../buffers/buffers.ts';
import { Holds } from '../store/holds.ts';
import { isReadable } from '../store/readable-body.ts';
import type { SharedBody } from '../store/shared-body.ts';
import type { StoredBody } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import { BufferedSender, type Recipient } from './buffered-sender.ts';
import { Pin, type Pins } from './pins.ts';

/** Fetches the body from a position on, at the origin; `undefined` if it is unavailable. */
export type FetchRest = (at: number, signal: Cancellation) => Promise<Readable | undefined>;

export interface FollowOptions {
  readonly fetchRest: FetchRest;
  readonly pins: Pins;
  readonly buffers: Buffers;
  /** Start offset. */
  readonly at?: number;
  /** Called when everything written before has been taken. */
  readonly onDrained?: () => void;
}

/**
 * Sends a shared body. A client that falls behind the shared window waits until the body is stored and reads the rest
 * from the store, or from the origin if the store has given it up. Returns false if the body broke off before the
 * client had anything, so that another answer can be sent. Never rejects.
 */
export async function followBody(to: Recipient, shared: SharedBody, options: FollowOptions): Promise<boolean> {
  const { viewer } = to;
  using holds = new Holds(); // until the viewer has taken everything
  using pin = new Pin(options.pins, viewer);
  const at = await followShared(viewer, shared, options, { holds, onWait: () => pin.hold(shared.memory) });
  if (viewer.isGone) return true;
  try {
    if (await sendRest(to, { shared, at, holds }, options)) {
      await viewer.end();
      return true;
    }
  } catch {
    // The body was evicted, or the origin's connection broke off.
  }
  if (!viewer.isBegun) return viewer.isGone;
  viewer.cut(502); // so that the client sees that the answer is incomplete
  return true;
}

/** Returns the position reached. */
async function followShared(
  viewer: Viewer,
  shared: SharedBody,
  { at = 0, onDrained }: FollowOptions,
  { holds, onWait }: { readonly holds: Holds; readonly onWait: () => void },
): Promise<number> {
  const reader = shared.open(at);
  viewer.signal.addEventListener('abort', reader.wake, { once: true });
  await viewer.drained();
  onDrained?.();
  while (!viewer.isGone) {
    const chunk = reader.read();
    if (chunk !== undefined) {
      if (viewer.write(chunk)) continue;
      onWait();
      await viewer.drained();
    } else {
      if (shared.over !== undefined || (shared.isUnstored && shared.hasLost(reader.at))) break;
      await reader.wait();
    }
  }
  viewer.signal.removeEventListener('abort', reader.wake);
  holds.hold(shared);
  reader.leave();
  return reader.at;
}

/** Sends the rest from the store or the origin. Returns false if it is unavailable. */
async function sendRest(
  to: Recipient,
  { shared, at, holds }: { readonly shared: SharedBody; readonly at: number; readonly holds: Holds },
  { fetchRest, pins, buffers }: FollowOptions,
): Promise<boolean> {
  const { viewer } = to;
  const { over } = shared;
  if (over?.kind === 'whole' && at === over.sizeBytes) return true;
  if (over?.kind === 'whole' && over.body !== undefined && (await isReadable(over.body, holds))) {
    const release = pins.hold(over.body, viewer);
    try {
      return await sendStored(viewer, over.body, { first: at, last: over.sizeBytes - 1 }, pins);
    } finally {
      release();
    }
  }
  const rest = shared.isUnstored && over?.kind !== 'broken' ? await fetchRest(at, viewer.signal) : undefined;
  return rest !== undefined && sendAll(viewer, rest, new BufferedSender(to, buffers));
}

async function sendStored(viewer: Viewer, body: StoredBody, span: ByteSpan, pins: Pins): Promise<boolean> {
  for await (const chunk of body.read(span)) {
    if (viewer.isGone) return false;
    if (viewer.write(chunk)) continue;
    const isTaken = pins.wait(body, viewer);
    await viewer.drained();
    isTaken();
  }
  return true;
}

async function sendAll(viewer: Viewer, chunks: Readable, outlet: BufferedSender): Promise<boolean> {
  chunks.once('error', () => outlet.close());
  try {
    for await (const chunk of chunks) {
      if (viewer.isGone) return false;
      if (!outlet.write(chunk)) await outlet.room();
    }
    await outlet.end();
    return !viewer.isGone;
  } finally {
    outlet.close();
  }
}
