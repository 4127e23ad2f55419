/**
 * Decides on requests to send, many in one transaction: checks ⑥ to ⑩ of each, in that order. The prices of those that
 * pass are held and their messages queued together. A request that fails does not affect the others.
 * docs/decisions/0210, 0212
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import {
  type AcceptFacts,
  type AskedRequest,
  type AskedRows,
  type NumberFacts,
  optOutKey,
  type RequestToStore,
  readAcceptFacts,
  readNumberFacts,
  storeRequests,
} from '#db/tables/sms/accept.ts';
import { HOUR_MS } from '#lib/durations.ts';
import type { LocalTime } from '#lib/local-time.ts';
import { MAX_SMS_NUMBERS, MAX_SMS_UNITS } from '#model/limits.ts';
import type { SmsApp } from '#model/sms-app.ts';
import { type AtOnce, type Opening, startAtOnce } from './at-once.ts';
import { type AskedMessage, type ComposeProblem, composeMessage, countNumbers } from './compose.ts';
import { findPrice } from './price.ts';
import { releaseAt } from './quiet-hours.ts';
import { RouteTable } from './route.ts';
import { mostParts } from './text/split.ts';

export interface Submission extends AskedRequest, AskedMessage {
  readonly now: number;
}

export type Verdict =
  /** A repetition of an accepted request is answered with the `sendid` of the first and has no effect. */
  | { readonly kind: 'accepted'; readonly sendid: string }
  | ComposeProblem
  | { readonly kind: 'appUnknown' }
  | { readonly kind: 'appDisabled' }
  | { readonly kind: 'balanceTooLow'; readonly price: number };

/** Concatenation references per number, which wrap around. */
const REFERENCES = 256;

/** Conditions under which the accepting transaction also claims parts, to be sent at once. */
export interface Departure {
  /** Connectors whose queue is empty; see `startAtOnce`. */
  readonly openings: readonly Opening[];
  readonly owner: string;
  readonly leaseUntil: number;
  readonly now: number;
}

export interface Accepted {
  /** Verdicts in the order of the submissions. */
  readonly verdicts: readonly Verdict[];
  /** The claimed parts of each connector, in order of sending. */
  readonly claimed: AtOnce['parts'];
  /** Whether other accepted messages were queued. */
  readonly isQueued: boolean;
}

export async function acceptSubmissions(
  trx: Transaction<Schema>,
  submissions: readonly Submission[],
  localTimeOf: (timeZone: string) => LocalTime,
  whenDeparture?: Promise<Departure>,
): Promise<Accepted> {
  const facts = await readAcceptFacts(trx, submissions, mostRows(submissions));
  const apps = new Map(facts.apps.map((app) => [app.appKey, app]));
  const drafts = submissions.map((submission) => draft(submission, apps.get(submission.appKey), facts, localTimeOf));
  const hopeful = drafts.flatMap((it) => (it.kind === 'draft' ? [it.request] : []));
  const numberFacts = await readNumberFacts(
    trx,
    hopeful.filter(({ asked }) => asked.kind === 'advertising').flatMap(accountNumbers),
    hopeful.filter(({ texts }) => texts.length > 1).flatMap((request) => request.numbers),
  );
  const departure = await whenDeparture;
  const { verdicts: decided, requests, taken } = decide(hopeful, facts, numberFacts);
  const { connectors, parts } = startAtOnce(requests, departure?.openings ?? [], departure?.now ?? 0);
  // No message is due before it is accepted; one that is due later waits for its permitted hours. docs/decisions/0425
  const now = Math.max(...submissions.map((submission) => submission.now));
  await storeRequests(trx, requests, { taken, now, claim: departure && { ...departure, connectors } });
  const nextVerdict = inOrder(decided);
  const verdicts = drafts.map((it) => (it.kind === 'draft' ? nextVerdict() : it));
  return { verdicts, claimed: parts, isQueued: requests.some((request) => isLeft(request, connectors)) };
}

function isLeft({ messages }: RequestToStore, connectors: AtOnce['connectors']): boolean {
  return messages.some(({ id, isOptedOut }) => !isOptedOut && !connectors.has(id));
}

/** Returns an upper bound of the valid numbers in a message, without checking them. */
export function mostNumbers({ kind, mobile }: AskedMessage): number {
  return kind === 'ordinary' ? 1 : Math.min(countNumbers(mobile), MAX_SMS_NUMBERS);
}

function mostRows(submissions: readonly Submission[]): AskedRows {
  let [messages, parts] = [0, 0];
  for (const submission of submissions) {
    const numbers = mostNumbers(submission);
    messages += numbers;
    // Decoding shortens the text; the suffix of advertising lengthens it.
    parts += numbers * mostParts(submission.kind === 'ordinary' ? submission.content.length : MAX_SMS_UNITS);
  }
  return { messages, parts };
}

type Draft = Exclude<Verdict, { kind: 'balanceTooLow' }> | { readonly kind: 'draft'; readonly request: DraftRequest };

type DraftRequest = Omit<RequestToStore, 'id' | 'messages'> & { readonly numbers: readonly string[] };

function draft(
  submission: Submission,
  app: SmsApp | undefined,
  { sendids }: AcceptFacts,
  localTimeOf: (timeZone: string) => LocalTime,
): Draft {
  const { accountId, kind, replayHash, now } = submission;
  if (app?.accountId !== accountId) return { kind: 'appUnknown' };
  const before = sendids.get(replayHash);
  if (before !== undefined) return { kind: 'accepted', sendid: before };
  if (!app.isEnabled) return { kind: 'appDisabled' };
  const composed = composeMessage(submission, app.settings);
  if (composed.kind !== 'message') return composed;
  const { marketingHours: hours, validityHours } = app.settings;
  const isHeld = kind === 'advertising' && hours !== undefined;
  const dueAt = isHeld ? releaseAt(now, hours, localTimeOf(hours.timeZone)) : now;
  const { parts: texts, numbers } = composed;
  const expireAt = dueAt + validityHours * HOUR_MS;
  return { kind: 'draft', request: { asked: submission, appId: app.id, texts, numbers, dueAt, expireAt } };
}

function accountNumbers({ asked, numbers }: DraftRequest) {
  return numbers.map((number) => ({ accountId: asked.accountId, number }));
}

interface Decided {
  /** Verdicts in the order of the requests. */
  readonly verdicts: readonly Verdict[];
  /** Requests whose price can be held; of two equal ones, only the first. */
  readonly requests: readonly RequestToStore[];
  /** Price of these requests, by account. */
  readonly taken: ReadonlyMap<number, number>;
}

function decide(drafts: readonly DraftRequest[], facts: AcceptFacts, numberFacts: NumberFacts): Decided {
  const routes = new RouteTable(facts.routes);
  const left = new Map(facts.balances);
  const taken = new Map<number, number>();
  const sendids = new Map<string, string>();
  const requests: RequestToStore[] = [];
  const references = new Map(numberFacts.references);
  const nextRequestId = inOrder(facts.requestIds);
  const nextMessageId = inOrder(facts.messageIds);
  const nextPartId = inOrder(facts.partIds);
  const verdicts = drafts.map((request): Verdict => {
    const { asked, texts, numbers } = request;
    const { accountId, kind, replayHash, sendid } = asked;
    // Of two equal requests in one batch, the second is answered as a repetition of the first.
    const before = sendids.get(replayHash);
    if (before !== undefined) return { kind: 'accepted', sendid: before };
    const priced = numbers.map((destination) => {
      const isOptedOut =
        kind === 'advertising' && numberFacts.optOuts.has(optOutKey({ accountId, number: destination }));
      return {
        destination,
        isOptedOut,
        price: isOptedOut ? 0 : (findPrice(facts.prices, kind, destination)?.price ?? 0),
      };
    });
    const price = texts.length * priced.reduce((sum, message) => sum + message.price, 0);
    const balance = left.get(accountId) ?? 0;
    if (balance < price) return { kind: 'balanceTooLow', price };
    left.set(accountId, balance - price);
    if (price > 0) taken.set(accountId, (taken.get(accountId) ?? 0) + price);
    const messages = priced.map(({ destination, isOptedOut, price: each }) => ({
      destination,
      isOptedOut,
      price: each,
      id: nextMessageId(),
      partIds: texts.map(nextPartId),
      route: routes.find(destination)?.prefix ?? '',
      reference: texts.length > 1 ? nextReference(references, destination) : 0,
    }));
    sendids.set(replayHash, sendid);
    requests.push({ ...request, id: nextRequestId(), messages });
    return { kind: 'accepted', sendid };
  });
  return { verdicts, requests, taken };
}

/** Assigns concatenation references: each long message to a number gets the one after the last used. */
function nextReference(references: Map<string, number>, destination: string): number {
  const reference = ((references.get(destination) ?? -1) + 1) % REFERENCES;
  references.set(destination, reference);
  return reference;
}

/** Returns a function that returns the values one after the other, and throws when there are no more. */
function inOrder<T>(values: readonly T[]): () => T {
  let at = 0;
  return () => {
    const value = values[at];
    at += 1;
    if (value === undefined) throw new Error('fewer values than were counted');
    return value;
  };
}
