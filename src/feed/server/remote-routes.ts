/** Routes that only edges on other machines use: views, files of snapshots, and view keys. */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Peer } from '../publish/peer.ts';
import type { ViewSealer } from '../publish/view-sealer.ts';
import { MessageError } from '../wire/messages.ts';
import { parseViewQuery } from '../wire/position-query.ts';
import { SEAL_HEADER, SUSPECT, VIEW_KEYS_PATH } from '../wire/protocol.ts';
import { parseSealKey } from '../wire/view-key-box.ts';
import { parseViewKeyRequest } from '../wire/view-key-messages.ts';
import type { ReadBody } from './bodies.ts';
import { type FeedHandler, queryOf, type Routes, refuseRequest } from './request-handler.ts';

const MAX_REQUEST_BYTES = 16 * 1024;

export function viewKeyRoutes(sealer: ViewSealer, readBody: ReadBody): Routes {
  const handle: FeedHandler = async (request, response, { peer }) => {
    if (peer === undefined) return refuseRequest(response, 404, 'no such path');
    const sealKey = readSealKey(request);
    const body = await readBody(request, response, { maxBytes: MAX_REQUEST_BYTES, peer });
    if (body === undefined) return refuseRequest(response, 413, `expected at most ${MAX_REQUEST_BYTES} bytes`);
    const ids = parseViewKeyRequest(body.toString('utf8'));
    if (ids.some((id) => !id.startsWith(`${peer.group}.`)))
      return refuseRequest(response, 403, `ids: expected keys of the group ${peer.group}`);
    if ((await sealer.suspects()).has(peer.edge))
      return refuseRequest(
        response,
        403,
        `${SUSPECT}: two machines have the identity of ${peer.edge}; it gets no view keys`,
      );
    const keys = await sealer.sealTo(peer, sealKey, ids);
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify({ keys }));
  };
  return { [VIEW_KEYS_PATH]: { method: 'POST', handle } };
}

/** Parses the request of an edge on another machine for a stream. Throws `MessageError`. */
export function readRemoteClient(request: IncomingMessage, peer: Peer) {
  return { peer, view: parseViewQuery(queryOf(request)), sealKey: readSealKey(request) };
}

/** Throws `MessageError`. */
function readSealKey({ headers }: IncomingMessage): KeyObject {
  const key = parseSealKey(String(headers[SEAL_HEADER] ?? ''));
  if (key === undefined) throw new MessageError(`${SEAL_HEADER}: expected a raw X25519 public key in base64`);
  return key;
}
