/**
 * Decides on requests to send, many in one transaction: checks ⑥ to ⑩ for each, in that order, then those that pass are
 * held, queued and stored together. What one of them lacks is no matter to the others. docs/decisions/0210, 0212
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema.ts';
import {
  findOptOuts,
  findReferences,
  findSendids,
  optOutKey,
  type RequestToStore,
  storeRequests,
} from '#db/sms-accept.ts';
import { findSmsAppsByKey } from '#db/sms-apps.ts';
import { listSmsPrices, lockSmsBalances, type SmsPrice, takeFromSmsBalances } from '#db/sms-balance.ts';
import { listRoutes } from '#db/sms-connectors.ts';
import type { LocalTime } from '#lib/local-time.ts';
import type { SmsApp } from '#model/sms-app.ts';
import { type AskedMessage, type ComposeProblem, composeMessage } from './compose.ts';
import { releaseAt } from './quiet-hours.ts';
import { RouteTable } from './route.ts';

export interface Submission extends AskedMessage {
  readonly accountId: number;
  readonly appKey: string;
  /** Of what makes a repetition. */
  readonly replayHash: string;
  /** What it is answered when it is accepted. */
  readonly sendid: string;
  readonly now: number;
}

export type Verdict =
  /** Also when it had been accepted before: then it is the first one's `sendid`, and nothing is done. */
  | { readonly kind: 'accepted'; readonly sendid: string }
  | ComposeProblem
  | { readonly kind: 'appUnknown' }
  | { readonly kind: 'appDisabled' }
  | { readonly kind: 'balanceTooLow'; readonly price: number };

/** Another process has accepted one of them meanwhile: the transaction is to be rolled back and begun again. */
export class AcceptedElsewhere extends Error {}

const HOUR_MS = 3_600_000;
/** References of long messages to one number go round. */
const REFERENCES = 256;

/** The verdicts stand in the order of the submissions. */
export async function acceptSubmissions(
  trx: Transaction<Schema>,
  submissions: readonly Submission[],
  localTimeOf: (timeZone: string) => LocalTime,
): Promise<readonly Verdict[]> {
  const apps = await findSmsAppsByKey(trx, [...new Set(submissions.map(({ appKey }) => appKey))]);
  const known = new Map(apps.map((app) => [app.appKey, app]));
  const replays = await findSendids(
    trx,
    submissions.map(({ replayHash }) => replayHash),
  );
  const drafts = submissions.map((submission) => draft(submission, known.get(submission.appKey), replays, localTimeOf));
  const hopeful = drafts.flatMap((it) => (it.kind === 'draft' ? [it.request] : []));
  const priced = await priceMessages(trx, hopeful);
  const accepted = await takePrices(trx, hopeful, priced);
  const requests = await refer(trx, [...accepted.values()]);
  const [now = 0] = submissions.map((submission) => submission.now);
  if (!(await storeRequests(trx, requests, now))) throw new AcceptedElsewhere();
  return drafts.map((it): Verdict => {
    if (it.kind !== 'draft') return it;
    const { replayHash, sendid } = it.request;
    const stored = accepted.get(replayHash);
    // Of two alike in one batch the second is answered as a repetition of the first.
    if (stored !== undefined) return { kind: 'accepted', sendid: stored.sendid };
    return { kind: 'balanceTooLow', price: priced.get(sendid)?.price ?? 0 };
  });
}

type Draft = Exclude<Verdict, { kind: 'balanceTooLow' }> | { readonly kind: 'draft'; readonly request: DraftRequest };

type DraftRequest = Omit<RequestToStore, 'messages'> & { readonly numbers: readonly string[] };

function draft(
  submission: Submission,
  app: SmsApp | undefined,
  replays: ReadonlyMap<string, string>,
  localTimeOf: (timeZone: string) => LocalTime,
): Draft {
  const { accountId, kind, smsType, replayHash, sendid, now } = submission;
  if (app?.accountId !== accountId) return { kind: 'appUnknown' };
  const before = replays.get(replayHash);
  if (before !== undefined) return { kind: 'accepted', sendid: before };
  if (!app.isEnabled) return { kind: 'appDisabled' };
  const composed = composeMessage(submission, app.settings);
  if (composed.kind !== 'message') return composed;
  const { marketingHours: hours, validityHours } = app.settings;
  const isHeld = kind === 'advertising' && hours !== undefined;
  const dueAt = isHeld ? releaseAt(now, hours, localTimeOf(hours.timeZone)) : now;
  const { parts: texts, numbers } = composed;
  const request = { sendid, accountId, appId: app.id, kind, smsType, replayHash, texts, numbers };
  return { kind: 'draft', request: { ...request, dueAt, expireAt: dueAt + validityHours * HOUR_MS } };
}

interface Priced {
  readonly messages: RequestToStore['messages'];
  readonly price: number;
}

/** By `sendid`. */
async function priceMessages(
  trx: Transaction<Schema>,
  requests: readonly DraftRequest[],
): Promise<ReadonlyMap<string, Priced>> {
  if (requests.length === 0) return new Map();
  const prices = await listSmsPrices(trx);
  const routes = new RouteTable(await listRoutes(trx));
  const advertised = requests.filter(({ kind }) => kind === 'advertising');
  const optOuts = await findOptOuts(
    trx,
    advertised.flatMap(({ accountId, numbers }) => numbers.map((number) => ({ accountId, number }))),
  );
  return new Map(
    requests.map((request) => {
      const { accountId, kind, texts, numbers, sendid } = request;
      const messages = numbers.map((destination) => {
        const isOptedOut = kind === 'advertising' && optOuts.has(optOutKey({ accountId, number: destination }));
        const price = isOptedOut ? 0 : priceOf(prices, kind, destination);
        return { destination, price, isOptedOut, route: routes.find(destination)?.prefix ?? '', reference: 0 };
      });
      return [sendid, { messages, price: texts.length * messages.reduce((sum, { price }) => sum + price, 0) }];
    }),
  );
}

/** Of a part: that of the longest prefix. */
function priceOf(prices: readonly SmsPrice[], kind: string, destination: string): number {
  let best: SmsPrice | undefined;
  for (const price of prices) {
    const fits = price.kind === kind && destination.startsWith(price.prefix);
    if (fits && price.prefix.length >= (best?.prefix.length ?? 0)) best = price;
  }
  return best?.price ?? 0;
}

/** Those that can be paid, by hash; of two alike, the first. What they cost has left the balances. */
async function takePrices(
  trx: Transaction<Schema>,
  requests: readonly DraftRequest[],
  priced: ReadonlyMap<string, Priced>,
): Promise<ReadonlyMap<string, RequestToStore>> {
  const accepted = new Map<string, RequestToStore>();
  if (requests.length === 0) return accepted;
  const left = new Map(
    await lockSmsBalances(
      trx,
      requests.map(({ accountId }) => accountId),
    ),
  );
  const taken = new Map<number, number>();
  for (const { numbers: _, ...request } of requests) {
    const { messages = [], price = 0 } = priced.get(request.sendid) ?? {};
    const { accountId, replayHash } = request;
    const balance = left.get(accountId) ?? 0;
    if (accepted.has(replayHash) || balance < price) continue;
    left.set(accountId, balance - price);
    taken.set(accountId, (taken.get(accountId) ?? 0) + price);
    accepted.set(replayHash, { ...request, messages });
  }
  await takeFromSmsBalances(trx, taken);
  return accepted;
}

/** Each long message to a number has the reference after the last one's. */
async function refer(
  trx: Transaction<Schema>,
  requests: readonly RequestToStore[],
): Promise<readonly RequestToStore[]> {
  const long = requests.filter(({ texts }) => texts.length > 1);
  const destinations = long.flatMap(({ messages }) => messages.map(({ destination }) => destination));
  const last = new Map(await findReferences(trx, [...new Set(destinations)]));
  return requests.map((request) => {
    if (request.texts.length === 1) return request;
    const messages = request.messages.map((message) => {
      const reference = ((last.get(message.destination) ?? -1) + 1) % REFERENCES;
      last.set(message.destination, reference);
      return { ...message, reference };
    });
    return { ...request, messages };
  });
}
