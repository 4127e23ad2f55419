/** Answers a question of control with an upload, for as long as the question is open. docs/decisions/0702 */
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { formatUploadPath } from '../wire/ask-messages.ts';
import { FEED_HEADER, FEED_VERSIONS, formatVersions } from '../wire/versions.ts';
import type { ControlLink } from './control-link.ts';

/** Tries of an edge that may reach several controls by one address. */
const MIN_TRIES = 8;
const ANSWER_MS = 5_000;

/**
 * Opens the upload to the control that asks. An edge follows one control, and any may ask: they are tried in turn.
 * Returns `undefined` if none takes it. Never rejects.
 */
export async function openUpload(
  link: ControlLink,
  { edge, id, signal }: { readonly edge: string; readonly id: string; readonly signal: AbortSignal },
): Promise<ClientRequest | undefined> {
  const { controls, isRemote } = link;
  const tries = isRemote ? Math.max(controls.length, MIN_TRIES) : 1;
  for (let n = 0; n < tries && !signal.aborted; n++) {
    const headers = { [FEED_HEADER]: formatVersions(FEED_VERSIONS), 'content-type': 'application/octet-stream' };
    const request = { method: 'POST', path: formatUploadPath(edge, id), headers, signal };
    const { outgoing } = link.open(request, true, controls[n % controls.length]);
    const status = await statusOf(outgoing);
    if (status === 200) return outgoing;
    outgoing.destroy();
    if (status === 409) return undefined;
  }
  return undefined;
}

/** Returns 0 if there is no answer. The body follows when the answer has begun. */
async function statusOf(outgoing: ClientRequest): Promise<number> {
  outgoing.on('error', () => undefined); // closed, which its writer sees
  outgoing.setTimeout(ANSWER_MS, () => outgoing.destroy());
  outgoing.flushHeaders();
  try {
    // `as`: what the event `response` of a client request carries.
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    outgoing.setTimeout(0);
    response.resume().on('error', () => undefined);
    return response.statusCode ?? 0;
  } catch {
    return 0;
  }
}
