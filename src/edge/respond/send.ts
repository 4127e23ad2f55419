/** Stage 10: sends the head with the fields that this hop adds, then the body, at the client's pace. */
import { after, type Eventual } from '#lib/future.ts';
import type { EdgeContext } from '../context.ts';
import type { Viewer } from '../viewer.ts';
import type { Recipient } from './buffered-sender.ts';
import { type BodyPiece, type EdgeAnswer, SliceLost } from './edge-answer.ts';
import { errorAnswer } from './error-page.ts';
import { finalHeaders, safeReason } from './final-head.ts';
import { followBody } from './follow-body.ts';
import type { Pins } from './pins.ts';
import { abandonBody, streamToViewer, streamUnread } from './stream.ts';
import { runTunnel, type Tunnels } from './tunnel.ts';

export interface SendOptions
  extends Pick<EdgeContext, 'cdn' | 'isDraining' | 'clock' | 'lag' | 'pins' | 'buffers' | 'unreadFetchMs'> {
  readonly webSockets: Tunnels;
}

/** Done when the answer was sent, completely or not, which the viewer knows. Returns the answer that was sent in the end. */
export function sendAnswer(
  viewer: Viewer,
  answer: EdgeAnswer,
  options: SendOptions,
  domainId: number,
): Eventual<EdgeAnswer> {
  const to = { viewer, domainId };
  return after(send(to, answer, options), (isAnswered) => {
    if (isAnswered) return answer;
    const instead = errorAnswer(502, { status: 'ERROR', reason: 'originCut' }, options.clock());
    return after(send(to, instead, options), () => instead);
  });
}

/** Returns false if the origin's body broke off while another answer can still be sent. */
function send(to: Recipient, answer: EdgeAnswer, options: SendOptions): Eventual<boolean> {
  const { viewer } = to;
  const isEndless = answer.body.kind === 'session' && answer.body.session.kind === 'flv';
  const isGivenAway = answer.body.kind === 'tunnel' || (answer.body.kind === 'session' && !isEndless);
  const closes = isEndless || (!isGivenAway && (answer.closes === true || options.isDraining()));
  const headers = finalHeaders(answer, options.cdn.id);
  const sent = closes ? [...headers, 'Connection', 'close'] : headers;
  viewer.sendHead(answer.status, safeReason(answer.reason), sent, isEndless);
  switch (answer.body.kind) {
    case 'none':
      return after(viewer.end(), () => true);
    case 'pieces':
      return sendPieces(viewer, answer.body.pieces, options.pins);
    case 'stream':
      return streamToViewer(to, answer.body.stream, answer.body.fill, options);
    case 'shared':
      return followBody(to, answer.body.shared, {
        fetchRest: answer.body.fetchRest,
        pins: options.pins,
        buffers: options.buffers,
      });
    case 'tunnel': {
      const client = viewer.switchProtocols();
      if (client !== undefined) return runTunnel(client, answer.body, options.webSockets).then(() => true);
      abandonBody(answer.body);
      return true;
    }
    case 'session':
      return answer.body.session.run(viewer, answer).then(() => true);
    case 'fill':
      void streamUnread(answer.body.stream, answer.body.fill, options); // never rejects; the client does not wait for it
      return after(viewer.end(), () => true);
  }
}

async function sendPieces(viewer: Viewer, pieces: readonly BodyPiece[], pins: Pins): Promise<boolean> {
  try {
    await writePieces(viewer, pieces, pins);
  } catch (error) {
    if (!(error instanceof SliceLost)) throw error;
    if (!viewer.isBegun) return viewer.isGone;
    viewer.cut(502); // so that the client sees that the answer is incomplete
    return true;
  }
  await viewer.end();
  return true;
}

async function writePieces(viewer: Viewer, pieces: readonly BodyPiece[], pins: Pins): Promise<void> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      if (!viewer.write(piece)) await viewer.drained();
    } else {
      await writeSpan(viewer, piece, pins);
    }
    if (viewer.isGone) return;
  }
}

async function writeSpan(viewer: Viewer, { body, span }: Exclude<BodyPiece, Buffer>, pins: Pins): Promise<void> {
  let release: (() => void) | undefined;
  try {
    for await (const chunk of body.read(span)) {
      if (viewer.isGone) return;
      if (viewer.write(chunk)) continue;
      release ??= pins.hold(body, viewer);
      const isTaken = pins.wait(body, viewer);
      await viewer.drained();
      isTaken();
    }
  } finally {
    release?.();
  }
}
