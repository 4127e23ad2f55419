/** An origin's body on its way to the client, and at the same time into the store where it may be kept. */
import type { Readable } from 'node:stream';
import type { Viewer } from '../viewer.ts';
import type { Fill } from './answer.ts';

/** A body that is smaller, or more than half here, is fetched to its end when its client has left. Edge rule 9 */
const FINISH_BELOW_BYTES = 16 * 1024 * 1024;

/**
 * While the body is gathered, the origin sets the pace and the client's queue holds at most what the store's limit for one
 * body allows; otherwise the client sets the pace. A body that breaks off cuts the client and is not stored.
 * Without a viewer only the store is filled.
 */
export async function streamBody(viewer: Viewer | undefined, source: Readable, fill: Fill | undefined): Promise<void> {
  try {
    await pump(viewer, source, fill);
  } catch {
    // The origin's body broke off: the client is to see that its answer is not whole.
    fill?.writer.discard();
    viewer?.cut();
    return;
  }
  await viewer?.end();
}

async function pump(viewer: Viewer | undefined, source: Readable, fill: Fill | undefined): Promise<void> {
  const leave = () => {
    if (!isWorthFinishing(fill)) source.destroy();
  };
  viewer?.signal.addEventListener('abort', leave, { once: true });
  if (viewer?.isGone === true) leave();
  let gathered = 0;
  for await (const chunk of source) {
    // A Readable without an encoding or object mode gives Buffers.
    const bytes: Buffer = chunk;
    gathered += bytes.length;
    const isGathering = fill?.writer.add(bytes) ?? false;
    const hasRoom = viewer?.write(bytes) ?? true;
    if (viewer?.isGone !== false && !isGathering) break; // nobody wants the rest; leaving the loop drops it
    if (!hasRoom && !isGathering) await viewer?.drained();
  }
  viewer?.signal.removeEventListener('abort', leave);
  // A body that was given up is not whole: `finish` would store it as if it were.
  if (!source.readableEnded) {
    fill?.writer.discard();
    return;
  }
  if (fill?.announcedBytes !== undefined && gathered !== fill.announcedBytes) {
    fill.writer.discard();
    return;
  }
  const body = fill?.writer.finish();
  if (body !== undefined) fill?.onWhole(body);
}

function isWorthFinishing(fill: Fill | undefined): boolean {
  if (fill === undefined || !fill.writer.isOpen) return false;
  const { announcedBytes, writer } = fill;
  if ((announcedBytes ?? writer.sizeBytes) < FINISH_BELOW_BYTES) return true;
  return announcedBytes !== undefined && writer.sizeBytes * 2 > announcedBytes;
}
