/** Signed addresses of recordings: bearer links that expire. All files of a recording share one query. */
import type { Keyring } from '#db/secrets/keyring.ts';
import { checkSigned, parseSignature, type SignatureState, signedQuery, type UrlSignature } from '../signed-query.ts';

export const RECORDING_DOWNLOADS_PATH = '/recordings';

export interface RecordingAddress {
  readonly accountId: number;
  readonly domainId: number;
  readonly recording: string;
}

/** Files of a recording: `index.m3u8`, which refers to `init.mp4` and `<n>.m4s`; `recording.mp4` is the whole. */
export type RecordingFile =
  | { readonly kind: 'playlist' | 'init' | 'whole' }
  | { readonly kind: 'media'; readonly n: number };

export type SignedRecording = RecordingAddress & UrlSignature & { readonly file: RecordingFile };

const PURPOSE = 'recordings';

/** Returns paths with queries. `expires`: Unix seconds. */
export function signedRecordingPaths(ring: Keyring, address: RecordingAddress, expires: number) {
  const { accountId, domainId, recording } = address;
  const folder = `${RECORDING_DOWNLOADS_PATH}/${accountId}/${domainId}/${recording}`;
  const query = signedQuery(ring, PURPOSE, [accountId, domainId, recording], expires);
  return { playlist: `${folder}/index.m3u8?${query}`, whole: `${folder}/recording.mp4?${query}` };
}

/** Returns `undefined` if it is not such an address. */
export function parseRecordingPath(path: string, query: URLSearchParams): SignedRecording | undefined {
  const found = /^\/recordings\/(\d{1,10})\/(\d{1,10})\/([a-z0-9]{1,32})\/([\w.]{1,20})$/.exec(path);
  const signature = parseSignature(query);
  const file = readName(found?.[4] ?? '');
  if (found === null || signature === undefined || file === undefined) return undefined;
  const [, accountId, domainId, recording = ''] = found;
  return { accountId: Number(accountId), domainId: Number(domainId), recording, file, ...signature };
}

export function checkRecordingSignature(ring: Keyring, signed: SignedRecording, now: number): SignatureState {
  const { accountId, domainId, recording } = signed;
  return checkSigned(ring, PURPOSE, [accountId, domainId, recording], signed, now);
}

function readName(name: string): RecordingFile | undefined {
  if (name === 'index.m3u8') return { kind: 'playlist' };
  if (name === 'init.mp4') return { kind: 'init' };
  if (name === 'recording.mp4') return { kind: 'whole' };
  const media = /^(\d{1,9})\.m4s$/.exec(name);
  return media === null ? undefined : { kind: 'media', n: Number(media[1]) };
}
