/** `GET /recordings/…`: the files of a recording under a signed address. Pages of other sites may read them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import { findAccountOfDomain } from '#db/tables/domains.ts';
import {
  findRecording,
  listOnAir,
  listPieces,
  type Recording,
  type RecordingPiece,
} from '#db/tables/live/recordings.ts';
import {
  checkRecordingSignature,
  parseRecordingPath,
  RECORDING_DOWNLOADS_PATH,
  type RecordingFile,
} from '#logs/recordings/address.ts';
import { initFile, mediaFile, wholeFile, writeRecordingPlaylist } from '#logs/recordings/files.ts';
import { type SentFile, sendJoined } from './send-joined.ts';
import {
  addSignedDownloads,
  type DownloadAnswers,
  type DownloadOptions,
  signatureProblem,
} from './signed-downloads.ts';

/** What stands behind it is for `parseRecordingPath` to judge. */
export const RECORDING_ROUTE = `${RECORDING_DOWNLOADS_PATH}/*`;

/** Also for elements that ask without CORS, such as a plain `<video src>`. */
const OPEN_TO_PAGES = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

interface Found {
  readonly recording: Recording;
  readonly pieces: readonly RecordingPiece[];
  readonly file: RecordingFile;
  /** The query of the address. */
  readonly query: string;
}

export function addRecordingDownloads(app: FastifyInstance, options: DownloadOptions, answers: DownloadAnswers): void {
  addSignedDownloads(app, RECORDING_ROUTE, answers, async (request, reply) => {
    const found = await find(request, options);
    return found instanceof ServiceError ? found : await send(request, reply, found, options);
  });
}

async function find({ url }: FastifyRequest, { db, ring, clock }: DownloadOptions): Promise<Found | ServiceError> {
  const { pathname, search, searchParams } = new URL(url, 'http://control');
  const signed = parseRecordingPath(pathname, searchParams);
  if (signed === undefined) return new ServiceError('pathUnknown');
  const problem = signatureProblem(checkRecordingSignature(ring, signed, clock()));
  if (problem !== undefined) return problem;
  const { accountId, domainId, file } = signed;
  const recording = await findRecording(db.query, signed.recording);
  const isOwners =
    recording?.domainId === domainId && (await findAccountOfDomain(db.query, recording.domainId)) === accountId;
  if (!isOwners) return new ServiceError('recordingNotFound');
  const only = file.kind === 'media' ? file.n : undefined;
  return { recording, pieces: await listPieces(db.query, recording.id, only), file, query: search.slice(1) };
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  found: Found,
  options: DownloadOptions,
): Promise<FastifyReply | ServiceError> {
  const { recording, pieces, file, query } = found;
  if (pieces.length === 0) return new ServiceError('recordingNotFound');
  if (file.kind === 'playlist') {
    const onAir = recording.endReason === '' ? await listOnAir(options.db.query, [recording.broadcast]) : undefined;
    const text = writeRecordingPlaylist(pieces, query, onAir?.has(recording.broadcast) !== true);
    return await reply
      .headers({ ...OPEN_TO_PAGES, 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' })
      .type('application/vnd.apple.mpegurl')
      .send(text);
  }
  const chosen = choose(found);
  return chosen === undefined
    ? new ServiceError('recordingNotFound')
    : await sendJoined(request, reply, chosen, options);
}

function choose({ recording, pieces, file }: Found): SentFile | undefined {
  const joined =
    file.kind === 'media' ? mediaFile(pieces, file.n) : file.kind === 'init' ? initFile(pieces) : wholeFile(pieces);
  return (
    joined && {
      file: joined,
      name: fileName(recording),
      isAttachment: file.kind === 'whole',
      contentType: 'video/mp4',
      missing: 'recordingNotFound',
      headers: OPEN_TO_PAGES,
    }
  );
}

/** `live_news_2026-01-31T04-00-00Z.mp4` */
function fileName({ app, stream, beganAt }: Recording): string {
  const began = new Date(beganAt)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  return `${app}_${stream}_${began}.mp4`;
}
