/** Requests on the fleet listener: which of them a connection may send, and the answers to enrolment and renewal. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { findEnrolledEdge, setSuspect } from '#db/tables/fleet/enrolled-edges.ts';
import { addFleetEvent } from '#db/tables/fleet/events.ts';
import { endViewKey } from '#db/tables/view-keys.ts';
import type { Peer } from '#feed/publish/peer.ts';
import { hasPassedProxy, refuseRequest } from '#feed/server/request-handler.ts';
import { MessageError } from '#feed/wire/messages.ts';
import { chooseVersion, type FeedVersions, FLEET_VERSIONS, formatVersions } from '#feed/wire/versions.ts';
import { clientNetwork } from '#lib/cidr.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { readBody } from '#lib/read-body.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
import type { Admission } from './admission.ts';
import { enrol, type Issuer } from './enrol.ts';
import {
  ANNOUNCE_PATH,
  ENROL_PATH,
  MACHINE_FIELD,
  MAX_MESSAGE_BYTES,
  parseAnnounceRequest,
  parseEnrolRequest,
  parseRenewRequest,
  RENEW_PATH,
} from './messages.ts';
import { noteAnnouncement } from './note-announcement.ts';
import { FleetRefusal } from './refusal.ts';
import { cloneFound, renew } from './renew.ts';
import type { OwnFiles } from './trust.ts';

/** Facts about a connection. */
export interface ConnectionFacts {
  /** The client's address. */
  readonly client: string;
  readonly admission: Admission;
}

/** Counts since the start. */
export interface FleetCounts {
  /** Edges that became suspect. */
  clones: number;
  /** Requests that were refused as malformed, by edge. */
  readonly badMessages: Map<string, number>;
}

export interface FleetRequestOptions {
  readonly db: Db;
  readonly ring: Keyring;
  /** Present with the operator's own public-key infrastructure. */
  readonly own?: OwnFiles | undefined;
  readonly controls: readonly string[];
  readonly onRequest: (request: IncomingMessage, response: ServerResponse, peer: Peer) => Promise<void> | void;
  readonly factsOf: (socket: Socket) => ConnectionFacts | undefined;
  readonly cutEdge: (edge: string) => void;
  readonly counts: FleetCounts;
  readonly clock: Clock;
  readonly steadyClock: Clock;
  readonly log: Logger;
}

const PER_MINUTE = 1 / 60;
const MAX_KEYS = 20_000;
const WRONG_TOKENS = { perSecond: 10 * PER_MINUTE, burst: 10, maxKeys: MAX_KEYS };
const BAD_MESSAGES = { perSecond: 100 * PER_MINUTE, burst: 100, maxKeys: MAX_KEYS };
/** An edge renews twice a week. */
const RENEWALS = { perSecond: PER_MINUTE, burst: 20, maxKeys: MAX_KEYS };
/** An edge that has sent too many malformed messages is shut out for this long. */
const SHUT_OUT_MS = 60_000;

/** An edge, and the address that its request came from. */
interface Sender {
  readonly peer: Peer;
  readonly client: string;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Returns a handler that never rejects. */
export function createRequestHandler(options: FleetRequestOptions): Handle {
  const faults = createFaults(options);
  const answerEnrolment = createEnrolment(options);
  const answerRenewal = createRenewal(options);
  const answerAnnouncement = createAnnouncement(options);
  return async (request, response) => {
    try {
      const facts = options.factsOf(request.socket);
      if (facts === undefined) return void request.socket.destroy(); // never: judged before HTTP
      if (hasPassedProxy(request)) throw new FleetRefusal(400, 'proxy', 'edges must connect without an HTTP proxy');
      const path = request.url?.split('?')[0] ?? '';
      if (path === ENROL_PATH) return await answerEnrolment(request, response, facts);
      if (isCopy(facts.admission)) await noteCopy(options, facts.admission.edge, facts.client);
      const peer = peerOf(facts.admission, path, options.own === undefined ? REFUSED : REFUSED_OWN);
      faults.watch(peer, response);
      if (path === RENEW_PATH) return await answerRenewal(request, response, { peer, client: facts.client });
      if (path === ANNOUNCE_PATH) return await answerAnnouncement(request, response, { peer, client: facts.client });
      await refuseCopy(options, request, facts);
      await options.onRequest(request, response, peer);
    } catch (error) {
      refuse(options, request, response, error);
    }
  };
}

function isCopy(admission: Admission): admission is Extract<Admission, { kind: 'refused' }> {
  return admission.kind === 'refused' && admission.word === 'clone';
}

/** Throws `FleetRefusal` if the connection may not ask for the path. */
function peerOf(admission: Admission, path: string, texts: Readonly<Record<keyof typeof REFUSED, string>>): Peer {
  switch (admission.kind) {
    case 'anonymous':
      throw new FleetRefusal(403, 'certificate', 'this path requires a client certificate');
    case 'untrusted':
      throw new FleetRefusal(403, 'certificate', texts.untrusted);
    case 'refused':
      if (admission.word === 'clone') throw cloneFound(admission.edge);
      throw new FleetRefusal(403, admission.word, texts[admission.word]);
    case 'renewOnly':
      if (path !== RENEW_PATH) throw new FleetRefusal(403, 'expired', 'the certificate has expired; renew it first');
      return admission.peer;
    case 'peer':
      return admission.peer;
  }
}

const REFUSED = {
  untrusted: 'the certificate is not of the authority of this fleet; enrol the edge with a token of this control',
  unknown: 'the certificate is not known; enrol the edge with a token',
  revoked: 'the edge has been revoked; to use the machine again, enrol it anew with a token',
  expired: 'the certificate expired too long ago; enrol the edge anew with a token',
} as const;

/** The same for certificates of the operator's own authority. */
const REFUSED_OWN = {
  untrusted: 'the certificate is not of an authority in fleet-ca, has expired, or names no edge',
  unknown: 'no edge has this id; add it at control with "causeway edge add"',
  revoked: 'the edge has been revoked; to use the machine again, add it anew with "causeway edge add"',
  expired: 'the certificate has expired; replace the files of fleet-cert and fleet-key',
} as const;

function createEnrolment(options: FleetRequestOptions) {
  const wrong = new TokenBuckets(WRONG_TOKENS);
  const issuer: Issuer = options;
  return async (request: IncomingMessage, response: ServerResponse, { client }: ConnectionFacts): Promise<void> => {
    refuseOtherMethod(request, response);
    const network = clientNetwork(client);
    if (wrong.available(network, options.steadyClock()) < 1)
      throw new FleetRefusal(429, 'tooManyTokens', 'too many wrong tokens from this address; try again later', 60);
    const call = { request: parseEnrolRequest(await readText(request)), address: client, now: options.clock() };
    refuseOtherFeed(call.request.feed);
    try {
      const answer = await enrol(issuer, call);
      options.log.info({ edge: answer.edge, group: answer.group, client }, 'edge enrolled');
      sendAnswer(response, answer);
    } catch (error) {
      if (error instanceof FleetRefusal && error.word === 'token') {
        wrong.take(network, options.steadyClock());
        options.log.warn({ client }, 'enrolment refused: wrong token');
      }
      throw error;
    }
  };
}

/** A machine that speaks no version of the feed in common with this control would get no settings. */
function refuseOtherFeed(versions: FeedVersions | undefined): void {
  if (versions === undefined || chooseVersion(versions, FLEET_VERSIONS) !== undefined) return;
  const [ours, theirs] = [FLEET_VERSIONS, versions].map(formatVersions);
  throw new FleetRefusal(426, 'feed', `this control speaks version ${ours} of the feed, not ${theirs}`);
}

function createRenewal(options: FleetRequestOptions) {
  const renewals = new TokenBuckets(RENEWALS);
  return async (request: IncomingMessage, response: ServerResponse, from: Sender): Promise<void> => {
    const { peer } = from;
    refuseOtherMethod(request, response);
    if (renewals.take(peer.edge, options.steadyClock()).kind === 'empty')
      throw new FleetRefusal(429, 'tooManyRenewals', 'too many renewals of this edge; try again later', 60);
    const message = parseRenewRequest(await readText(request));
    const order = { peer, request: message, now: options.clock() };
    sendAnswer(response, await notingCopies(options, from, () => renew(options, order)));
  };
}

function createAnnouncement(options: FleetRequestOptions) {
  return async (request: IncomingMessage, response: ServerResponse, from: Sender): Promise<void> => {
    const { peer } = from;
    refuseOtherMethod(request, response);
    const message = parseAnnounceRequest(await readText(request));
    sendAnswer(response, await notingCopies(options, from, () => noteAnnouncement(options, peer, message)));
  };
}

/** Notes a copy of the edge if `work` finds one. */
async function notingCopies<T>(
  options: FleetRequestOptions,
  { peer, client }: Sender,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FleetRefusal && error.word === 'clone') await noteCopy(options, peer.edge, client);
    throw error;
  }
}

/** An edge that names another machine than the one that was enrolled is a copy. */
async function refuseCopy(
  options: FleetRequestOptions,
  { headers }: IncomingMessage,
  { admission, client }: ConnectionFacts,
): Promise<void> {
  const machine = headers[MACHINE_FIELD];
  if (machine === undefined || admission.kind !== 'peer') return;
  if (admission.machine === '' || admission.machine === machine) return;
  await noteCopy(options, admission.peer.edge, client);
  throw cloneFound(admission.peer.edge);
}

/** `client`: the address of the copy that was noticed. */
async function noteCopy({ db, clock, counts, log }: FleetRequestOptions, edge: string, client: string): Promise<void> {
  const now = clock();
  const isNew = await db.transaction(async (trx) => {
    if (!(await setSuspect(trx, edge, now))) return false;
    const enrolled = await findEnrolledEdge(trx, edge);
    // Both copies have the current key; neither gets a new one.
    if (enrolled !== undefined) await endViewKey(trx, enrolled.group, now);
    await addFleetEvent(trx, { at: now, edge, event: 'clone', detail: `from ${client}`, actor: 'control' });
    return true;
  });
  if (!isNew) return;
  counts.clones += 1;
  log.error({ edge, client }, 'two machines have the identity of this edge; enrol one of them anew');
}

/** Counts malformed messages by edge, and shuts an edge out that sends too many. */
function createFaults({ counts, cutEdge, steadyClock, log }: FleetRequestOptions) {
  const allowed = new TokenBuckets(BAD_MESSAGES);
  const shutOut = new Map<string, number>();
  return {
    watch({ edge }: Peer, response: ServerResponse): void {
      const since = shutOut.get(edge);
      if (since !== undefined && steadyClock() - since < SHUT_OUT_MS)
        throw new FleetRefusal(429, 'badMessages', 'too many malformed messages from this edge', 60);
      shutOut.delete(edge);
      response.once('finish', () => {
        if (response.statusCode !== 400) return;
        counts.badMessages.set(edge, (counts.badMessages.get(edge) ?? 0) + 1);
        if (allowed.take(edge, steadyClock()).kind === 'taken') return;
        log.warn({ edge }, 'this edge sends malformed messages; its connections are refused for a minute');
        shutOut.set(edge, steadyClock());
        cutEdge(edge);
      });
    },
  };
}

function refuseOtherMethod({ method }: IncomingMessage, response: ServerResponse): void {
  if (method === 'POST') return;
  response.setHeader('allow', 'POST');
  throw new FleetRefusal(405, 'method', 'expected POST');
}

async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, MAX_MESSAGE_BYTES);
  if (body === undefined) throw new FleetRefusal(413, 'body', `expected at most ${MAX_MESSAGE_BYTES} bytes`);
  return body.toString('utf8');
}

function sendAnswer(response: ServerResponse, answer: object): void {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(answer));
}

function refuse(
  { log }: FleetRequestOptions,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const refusal = refusalOf(error);
  if (refusal === undefined && !response.destroyed)
    log.error({ err: error, path: request.url }, 'fleet request failed');
  const { status, message, retryAfterSeconds = 0 } = refusal ?? new FleetRefusal(503, 'notReady', 'try again later', 5);
  if (response.headersSent) return void response.destroy();
  if (retryAfterSeconds > 0) response.setHeader('retry-after', retryAfterSeconds);
  refuseRequest(response, status, message);
}

function refusalOf(error: unknown): FleetRefusal | undefined {
  if (error instanceof FleetRefusal) return error;
  if (!(error instanceof MessageError)) return undefined;
  const [member = '', ...text] = error.message.split(': ');
  return new FleetRefusal(400, member, text.join(': '));
}
