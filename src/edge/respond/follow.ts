/** A body on its way into the store, on its way to one more client. */
import type { LiveBody } from '../live.ts';
import { isReadable } from '../readable.ts';
import type { Viewer } from '../viewer.ts';

/**
 * From position `at`; what was written before is waited for, and then `onDrained` called. Who falls behind what is kept for all waits until it is stored, and reads the rest from there. Never
 * rejects.
 */
export async function followBody(
  viewer: Viewer,
  live: LiveBody,
  at = 0,
  onDrained: () => void = () => undefined,
): Promise<void> {
  const reader = live.open(at);
  viewer.signal.addEventListener('abort', reader.wake, { once: true });
  await viewer.drained();
  onDrained();
  while (!viewer.isGone) {
    const chunk = reader.read();
    if (chunk !== undefined) {
      if (!viewer.write(chunk)) await viewer.drained();
    } else {
      if (live.over !== undefined) break;
      await reader.wait();
    }
  }
  viewer.signal.removeEventListener('abort', reader.wake);
  reader.leave();
  if (viewer.isGone) return;
  if (live.over?.kind === 'whole' && (await sendRest(viewer, live.over, reader.at))) return viewer.end();
  viewer.cut(); // the client is to see that its answer is not whole
}

/** False: it is not to be had. */
async function sendRest(
  viewer: Viewer,
  { body, sizeBytes }: Extract<LiveBody['over'], { kind: 'whole' }>,
  at: number,
): Promise<boolean> {
  if (at === sizeBytes) return true;
  if (body === undefined || !(await isReadable(body))) return false;
  try {
    for await (const chunk of body.read({ first: at, last: sizeBytes - 1 })) {
      if (viewer.isGone) return false;
      if (!viewer.write(chunk)) await viewer.drained();
    }
    return true;
  } catch {
    return false; // it has left the disk
  }
}
