/** `GET /tails/…`: the lines of a domain's log as they are written, for any request with a signed URL that is still new. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import { findAccountOfDomain } from '#db/tables/domains.ts';
import type { Asks } from '#feed/publish/asks.ts';
import { checkTailSignature, parseTailPath, TAIL_PATH, type TailAddress } from '#logs/tail/address.ts';
import { parseFilter } from '#logs/tail/filter.ts';
import { TailStream } from '#logs/tail/tail-stream.ts';
import { shareOfLimit } from '#model/control.ts';
import { groupsOf } from '../../handlers/checks.ts';
import {
  addSignedDownloads,
  type DownloadAnswers,
  type DownloadOptions,
  signatureProblem,
} from './signed-downloads.ts';

/** What stands behind it is for `parseTailPath` to judge. */
export const TAIL_ROUTE = `${TAIL_PATH}/*`;

/** Tails of one account. Controls share them, and each has at least one. */
const MAX_OF_ACCOUNT = 2;
/** Tails of all accounts at this control. */
const MAX_IN_ALL = 50;

export interface TailOptions extends DownloadOptions {
  /** Absent: there are no edges to follow. */
  readonly asks?: Pick<Asks, 'ask'> | undefined;
  /** The controls that share limits; absent: this one is alone. */
  readonly peers?: { readonly seen: number };
}

/** Returns a function that ends all tails because control stops. */
export function addTails(app: FastifyInstance, options: TailOptions, answers: DownloadAnswers): () => void {
  const open = new Map<TailStream, number>();
  addSignedDownloads(app, TAIL_ROUTE, answers, async (request, reply) => {
    const tail = await readTail(request, options);
    if (tail instanceof ServiceError) return tail;
    if (request.method === 'HEAD') return await reply.headers(FIELDS).send();
    const { accountId } = tail;
    const ofAccount = [...open.values()].filter((id) => id === accountId).length;
    const share = Math.floor(shareOfLimit(MAX_OF_ACCOUNT, options.peers?.seen ?? 1));
    if (ofAccount >= share || open.size >= MAX_IN_ALL) return new ServiceError('tailsFull', { limit: MAX_OF_ACCOUNT });
    return await follow(reply, tail, options, open);
  });
  return () => {
    for (const stream of [...open.keys()]) stream.end('stopping');
  };
}

const FIELDS = {
  'content-type': 'application/x-ndjson; charset=utf-8',
  'cache-control': 'private, no-store',
  'x-accel-buffering': 'no', // nginx passes lines on as they come
};

async function readTail(
  { url }: FastifyRequest,
  { db, ring, clock }: TailOptions,
): Promise<(TailAddress & { readonly groups: readonly string[] }) | ServiceError> {
  const { pathname, searchParams } = new URL(url, 'http://control');
  const tail = parseTailPath(pathname, searchParams);
  if (tail === undefined) return new ServiceError('pathUnknown');
  const problem = signatureProblem(checkTailSignature(ring, tail, clock()));
  if (problem !== undefined) return problem;
  if ((await findAccountOfDomain(db.query, tail.domainId)) !== tail.accountId)
    return new ServiceError('domainNotFound', { domainId: tail.domainId });
  return { ...tail, groups: await groupsOf({ db }, tail.domainId) };
}

async function follow(
  reply: FastifyReply,
  { accountId, domainId, filter: text, seconds, groups }: TailAddress & { readonly groups: readonly string[] },
  { asks, db }: TailOptions,
  open: Map<TailStream, number>,
): Promise<FastifyReply | ServiceError> {
  const parsed = parseFilter(text); // checked before it was signed
  const filter = parsed.kind === 'filter' ? parsed.filter : {};
  const stack = new DisposableStack();
  const stream = new TailStream({
    seconds,
    monotonic: () => performance.now(),
    isOwn: async () => (await findAccountOfDomain(db.query, domainId)) === accountId,
    onEnd: () => {
      open.delete(stream);
      stack.dispose();
    },
  });
  open.set(stream, accountId);
  const asked = asks?.ask(
    { content: { kind: 'tail', domainId, filter }, limitMs: seconds * 1000, asked: { groups, isOne: false } },
    ({ edge, content }) => stream.take(edge, content),
  );
  if (asked === undefined) {
    stream.body.destroy();
    return new ServiceError('tailsFull', { limit: MAX_OF_ACCOUNT });
  }
  stack.use(asked);
  return await reply.headers(FIELDS).send(stream.body);
}
