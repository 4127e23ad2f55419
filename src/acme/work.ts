/**
 * Works on one order under its lease: looks at the state of things, does the one step that comes next, and stores its
 * result. A process that is killed in between leaves an order that the next one can continue. docs/decisions/0191
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { seal, unseal } from '#db/secrets/sealing.ts';
import {
  countBegun,
  endOrder,
  LeaseLost,
  orderKeyLocation,
  saveOrder,
  withdrawal,
} from '#db/tables/certificate-orders.ts';
import { findCertificate, findChain } from '#db/tables/certificates.ts';
import { findDomainById } from '#db/tables/domains.ts';
import { type Change, publish } from '#db/tables/resources.ts';
import { listServingEdges } from '#db/tables/serving-edges.ts';
import type { Clock } from '#lib/clock.ts';
import { HOUR_MS } from '#lib/durations.ts';
import type { Logger } from '#lib/logger.ts';
import { isAppliedEverywhere } from '#model/acknowledgement.ts';
import { parseChain } from '#model/certificate.ts';
import { renewalIdOf } from '#model/certificate-extensions.ts';
import { coversName } from '#model/certificate-names.ts';
import {
  type CertificateOrder,
  countDayOrders,
  type Given,
  MAX_ORDERS_PER_DAY,
  type ObtainedCertificate,
  type OrderProblem,
  type Validity,
} from '#model/certificate-order.ts';
import { CHALLENGE_KIND, type ChallengeBody, challengeKey } from '#model/challenge.ts';
import { makeCsr } from '#model/csr.ts';
import type { Domain } from '#model/domain.ts';
import { ACCOUNT_RETRY_MS, type AccountHolder, AccountRefused } from './account.ts';
import { AcmeProblem, Unreachable } from './acme-problem.ts';
import type { AcmeAuthority, SigningAccount } from './authority.ts';
import { makeKey } from './jws.ts';
import {
  beginAt,
  INFO_MS,
  nextInfoMs,
  renewalAt,
  retryAt,
  suggestedRenewalAt,
  type Trouble,
  troubleAt,
} from './schedule.ts';
import { nextStep, type Seen, type Step } from './step.ts';

export interface WorkParts {
  readonly db: Db;
  readonly ring: Keyring;
  readonly authority: AcmeAuthority;
  readonly account: AccountHolder;
  readonly give: GiveCertificate;
  readonly clock: Clock;
  /** 0 ≤ random() < 1 */
  readonly random: () => number;
  /** Unique name of this process among those that work on orders. */
  readonly owner: string;
  readonly log: Logger;
  /** Notified when an order has ended. */
  readonly onEnd: (outcome: 'issued' | OrderProblem) => void;
}

/** Stores the certificate and binds the domain to it, within the caller's transaction. */
type GiveCertificate = (trx: Transaction<Schema>, given: ObtainedCertificate) => Promise<Given>;

/**
 * Limits of orders: all customers share one account at the authority, whose own rate limits none of them may use up.
 */
const ORDERS_PER_HOUR = 100;
const ORDERS_PER_HOUR_OF_ACCOUNT = 25;
const FULL_MS = 300_000; // delay of an order beyond the limit
/** Delay for a domain that waits for an operator or its customer. */
const NOT_SERVED_MS = 60_000;
const SOON_MS = 1_000;

/** Works on the order. Errors of the authority are stored with it; rejects if the database or the key ring fails. */
export async function workOrder(parts: WorkParts, claimed: CertificateOrder, signal: AbortSignal): Promise<void> {
  const work = new Work(parts, claimed, signal);
  try {
    await work.run().catch((error: unknown) => work.settle(error));
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
}

class Work {
  readonly #parts: WorkParts;
  readonly #signal: AbortSignal;
  /** The order as stored. */
  #order: CertificateOrder;
  /** The domain's current certificate. */
  #served: Validity | undefined;

  constructor(parts: WorkParts, order: CertificateOrder, signal: AbortSignal) {
    this.#parts = parts;
    this.#order = order;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { db, clock } = this.#parts;
    const { domainId, sslKey } = this.#order;
    const domain = await findDomainById(db.query, domainId);
    if (domain === undefined || domain.settings.sslKey !== sslKey) return await this.#giveUp();
    if (sslKey !== '') this.#served = await findCertificate(db.query, { accountId: domain.accountId, key: sslKey });
    if (domain.state !== 'open' && domain.state !== 'closed') return await this.#wait(NOT_SERVED_MS);
    const facts = { areEdgesReady: await this.#areEdgesReady(), now: clock() };
    const first = nextStep(this.#order, { ...facts, seen: undefined });
    await this.#do(
      first.kind === 'look' ? nextStep(this.#order, { ...facts, seen: await this.#look() }) : first,
      domain,
    );
  }

  /** Stores the consequence of a failed step. */
  async settle(error: unknown): Promise<void> {
    const { account, clock, log } = this.#parts;
    const { domainId } = this.#order;
    const now = clock();
    if (error instanceof LeaseLost) throw error;
    if (isStopping(this.#signal) && !(error instanceof AcmeProblem)) return await this.#save({ dueAt: now });
    if (error instanceof AccountRefused) {
      log.warn(
        { domainId, detail: error.message },
        'cannot obtain a certificate: the certificate authority rejects the account; retrying later',
      );
      return await this.#save({ problem: 'refused', detail: error.message, dueAt: now + ACCOUNT_RETRY_MS });
    }
    if (!(error instanceof AcmeProblem) && !(error instanceof Unreachable)) throw error;
    const detail = error.message;
    if (error instanceof Unreachable || error.type === 'badNonce') {
      log.warn({ domainId, detail }, 'cannot reach the certificate authority; retrying');
      const dueAt = troubleAt(this.#order, this.#trouble(now, error.retryAfterMs));
      return await this.#save({ problem: 'unreachable', detail, dueAt });
    }
    switch (error.type) {
      case 'accountDoesNotExist':
        await account.forget();
        return await this.#wait(SOON_MS);
      case 'orderNotReady': // another process finalized it
        return await this.#wait(SOON_MS);
      case 'rateLimited':
        return await this.#fail('limited', detail, error.retryAfterMs);
      default:
        return await this.#fail('refused', detail);
    }
  }

  async #areEdgesReady(): Promise<boolean> {
    const { db, clock } = this.#parts;
    const { challenge, domainId } = this.#order;
    if (challenge === undefined) return false;
    const edges = await listServingEdges(db.query, domainId, clock());
    return isAppliedEverywhere({ kind: CHALLENGE_KIND, ...challenge }, edges);
  }

  async #look(): Promise<Seen> {
    const { authority } = this.#parts;
    const account = await this.#account();
    const order = await authority.readOrder(account, this.#order.url, this.#signal);
    const hasReason = order.status === 'pending' || order.status === 'invalid';
    if (!hasReason) return { order, authorization: undefined };
    return { order, authorization: await authority.readAuthorization(account, order.authorizationUrl, this.#signal) };
  }

  async #do(step: Step, domain: Domain): Promise<void> {
    switch (step.kind) {
      case 'order':
        return await this.#begin(domain);
      case 'schedule':
        return await this.#schedule();
      case 'publish':
        return await this.#publish(domain.name, step.token);
      case 'respond':
        return await this.#respond(step.url);
      case 'withdraw':
        return await this.#store([], { challenge: undefined, dueAt: this.#parts.clock() });
      case 'finalize':
        return await this.#finalize(domain.name, step.url);
      case 'download':
        return await this.#download(domain, step.url);
      case 'wait':
        return await this.#wait(step.forMs);
      case 'fail':
        return await this.#fail(step.problem, step.detail);
      case 'look': // `nextStep` asks for it once
        return await this.#wait(SOON_MS);
    }
  }

  async #begin({ name, accountId }: Domain): Promise<void> {
    const { db, authority, clock } = this.#parts;
    const now = clock();
    const at = beginAt(this.#order, this.#served, now);
    if (at > now) return await this.#hold(at, `a domain begins at most ${MAX_ORDERS_PER_DAY} orders a day`);
    const dayOrders = countDayOrders(this.#order, now);
    const dayBeganAt = dayOrders === 0 ? now : this.#order.dayBeganAt;
    const begun = await countBegun(db.query, { since: now - HOUR_MS, accountId });
    if (begun.ofAccount >= ORDERS_PER_HOUR_OF_ACCOUNT)
      return await this.#hold(now + FULL_MS, `an account begins at most ${ORDERS_PER_HOUR_OF_ACCOUNT} orders an hour`);
    if (begun.all >= ORDERS_PER_HOUR)
      return await this.#hold(now + FULL_MS, `the service begins at most ${ORDERS_PER_HOUR} orders an hour`);
    const account = await this.#account();
    const replaces = await this.#renewalId();
    // Counted before the order is made, so that repeated kills here cannot exceed the limit.
    const started = { state: 'pending', ...NO_PROBLEM, orderedAt: now } as const;
    const { orderedAt } = this.#order;
    await this.#save({ ...started, dayBeganAt, dayOrders: dayOrders + 1 }, true);
    try {
      const url = await authority.order(account, name, this.#signal, replaces);
      await this.#save({ url, dueAt: now });
    } catch (error) {
      // No order was made if the authority is unreachable.
      if (error instanceof Unreachable) await this.#save({ dayOrders, orderedAt }, true);
      throw error;
    }
  }

  /** Returns the authority's id of the certificate that is renewed; `undefined` if it was not ordered by us. */
  async #renewalId(): Promise<string | undefined> {
    const { sslKey, issuedKey } = this.#order;
    if (issuedKey === '' || sslKey !== issuedKey) return undefined;
    const chain = await findChain(this.#parts.db.query, issuedKey);
    return chain === undefined ? undefined : renewalIdOf(new X509Certificate(chain));
  }

  /** Asks for renewal information. If that fails, the previous schedule stays, and it is asked again later. */
  async #schedule(): Promise<void> {
    const { authority, clock, random, log } = this.#parts;
    const { domainId, renewAt } = this.#order;
    const renewalId = await this.#renewalId();
    const info = await (renewalId === undefined
      ? undefined
      : authority.readRenewalInfo(renewalId, this.#signal).catch((error: unknown) => {
          if (isStopping(this.#signal) || !(error instanceof AcmeProblem || error instanceof Unreachable)) throw error;
          log.info(
            { domainId, detail: error.message },
            'cannot read the suggested renewal time from the certificate authority; using the default',
          );
          return { window: undefined, retryAfterMs: error.retryAfterMs };
        }));
    if (info === undefined || this.#served === undefined) return await this.#save({ dueAt: renewAt });
    const { window, retryAfterMs } = info;
    const at = window === undefined ? renewAt : suggestedRenewalAt(window, this.#order, this.#served, random());
    const renewal = window === undefined ? {} : { renewAt: at, renewalWindow: window };
    if (at !== renewAt)
      log.info({ domainId, renewAt: new Date(at) }, 'the certificate authority suggested a renewal time');
    await this.#save({ ...renewal, dueAt: Math.min(at, clock() + nextInfoMs(retryAfterMs)) });
  }

  /** Delays the order because of one of our limits. An earlier failure keeps its reason. */
  async #hold(dueAt: number, detail: string): Promise<void> {
    const problem = this.#order.state === 'failed' ? {} : ({ problem: 'limited', detail } as const);
    await this.#save({ ...problem, dueAt });
  }

  async #publish(host: string, token: string): Promise<void> {
    const { clock } = this.#parts;
    const { signer } = await this.#account();
    const key = challengeKey(host, token);
    const body: ChallengeBody = { keyAuthorization: signer.keyAuthorization(token) };
    const put: Change = { kind: CHALLENGE_KIND, key, op: 'put', body };
    await this.#store([put], { state: 'challenged', challenge: { key, revision: 0, toldAt: 0 }, dueAt: clock() });
  }

  /** Asks the authority to validate, once: a second validation might find the challenge withdrawn. */
  async #respond(url: string): Promise<void> {
    const { authority, clock } = this.#parts;
    const { challenge } = this.#order;
    await this.#save({ challenge: challenge && { ...challenge, toldAt: clock() } }, true);
    await authority.respond(await this.#account(), url, this.#signal).catch((error: unknown) => {
      // The challenge is over: the next step sees its result.
      if (!(error instanceof AcmeProblem && error.type === 'malformed')) throw error;
    });
    await this.#wait(SOON_MS);
  }

  async #finalize(name: string, url: string): Promise<void> {
    const { ring, authority } = this.#parts;
    if (this.#order.privateKey === '') {
      const privateKey = seal(ring, orderKeyLocation(this.#order.domainId), Buffer.from(makeKey()));
      await this.#save({ privateKey }, true);
    }
    await authority.finalize(await this.#account(), url, makeCsr(name, this.#openKey()), this.#signal);
    await this.#wait(SOON_MS);
  }

  #openKey(): KeyObject {
    const { domainId, privateKey } = this.#order;
    return createPrivateKey(unseal(this.#parts.ring, orderKeyLocation(domainId), privateKey).toString('utf8'));
  }

  async #download({ name }: Domain, url: string): Promise<void> {
    const { db, authority, give, clock, random, owner, log, onEnd } = this.#parts;
    const privateKey = this.#openKey();
    const hasInfo = await authority.hasRenewalInfo(this.#signal);
    const pem = await authority.download(await this.#account(), url, this.#signal);
    const now = clock();
    const parsed = parseChain(pem, privateKey, now);
    if (parsed.kind === 'invalid') return await this.#fail('unusable', `its certificate ${parsed.reason}`);
    const { chain } = parsed;
    if (!coversName(chain.names, name)) return await this.#fail('unusable', 'its certificate is for another name');
    const { domainId, sslKey: instead, issuedKey } = this.#order;
    const isReplaced = instead !== '' && instead === issuedKey;
    const renewAt = renewalAt(chain, now, random());
    const dueAt = hasInfo ? Math.min(renewAt, now + INFO_MS) : renewAt;
    const given = await db.transaction(async (trx) => {
      const result = await give(trx, { domainId, instead, isReplaced, chain, privateKey, now });
      if (result.kind !== 'given') return result;
      const { sslKey } = result;
      const done = { state: 'issued', ...NO_PROBLEM, sslKey, issuedKey: sslKey, failures: 0 } as const;
      await saveOrder(
        trx,
        { ...this.#order, ...done, ...CLEARED, dueAt, renewAt, renewalWindow: undefined },
        { owner, now },
      );
      return result;
    });
    if (given.kind !== 'given')
      return given.kind === 'unwanted' ? await this.#giveUp() : await this.#fail('accountFull', '');
    onEnd('issued');
    log.info({ domainId, name, certificate: given.sslKey, renewAt: new Date(renewAt) }, 'certificate obtained');
  }

  async #fail(problem: OrderProblem, detail: string, retryAfterMs?: number): Promise<void> {
    const { clock, log, onEnd } = this.#parts;
    const failures = this.#order.failures + 1;
    const dueAt = retryAt(failures, this.#trouble(clock(), retryAfterMs));
    await this.#store([], { state: 'failed', problem, detail, failures, ...CLEARED, dueAt });
    onEnd(problem);
    log.warn({ domainId: this.#order.domainId, problem, detail, failures }, 'cannot obtain a certificate');
  }

  #trouble(now: number, retryAfterMs: number | undefined): Trouble {
    return { now, random: this.#parts.random(), served: this.#served, retryAfterMs };
  }

  /** Ends the order: the domain was deleted, or another certificate or none was chosen for it. */
  async #giveUp(): Promise<void> {
    const { db, owner, clock } = this.#parts;
    await db.transaction(async (trx) => {
      await saveOrder(trx, this.#order, { owner, now: clock(), keeps: true }); // throws if the lease was lost
      const changes = await endOrder(trx, this.#order.domainId);
      if (changes.length > 0) await publish(trx, changes, clock());
    });
  }

  #account(): Promise<SigningAccount> {
    return this.#parts.account.get(this.#signal);
  }

  async #wait(forMs: number): Promise<void> {
    await this.#save({ dueAt: this.#parts.clock() + forMs });
  }

  /** Stores a change and releases the order, unless `keeps`. A continuing order's problem is cleared. */
  async #save(change: Partial<CertificateOrder>, keeps = false): Promise<void> {
    const { db, owner, clock } = this.#parts;
    const isResting = this.#order.state === 'issued' || this.#order.state === 'failed';
    const changed = { ...this.#order, ...(!isResting && NO_PROBLEM), ...change };
    await saveOrder(db.query, changed, { owner, now: clock(), keeps });
    this.#order = changed;
  }

  /** Stores a change with the challenges for the edges; those that no longer belong to the order are withdrawn. */
  async #store(changes: readonly Change[], change: Partial<CertificateOrder>): Promise<void> {
    const { db, owner, clock } = this.#parts;
    const old = this.#order.challenge;
    const changed = { ...this.#order, ...NO_PROBLEM, ...change };
    const { challenge } = changed;
    const withdrawn = old !== undefined && old.key !== challenge?.key ? [withdrawal(old.key)] : [];
    const all = [...changes, ...withdrawn];
    await db.transaction(async (trx) => {
      // First of all, in the order of locks of a process that ends the order: the order, then the head.
      const now = clock();
      await saveOrder(trx, changed, { owner, now, keeps: true });
      const revision = all.length === 0 ? 0 : await publish(trx, all, now);
      await saveOrder(trx, { ...changed, challenge: challenge && { ...challenge, revision } }, { owner, now });
    });
  }
}

/** Whether the process is stopping, rather than a step having timed out. */
function isStopping({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError');
}

const NO_PROBLEM = { problem: undefined, detail: '' } as const;
const CLEARED = { url: '', challenge: undefined, privateKey: '' } as const;
