/**
 * Keeps the holders of an origin's slots and the queue for them. No client and no kind of request may hold all slots;
 * waiting requests take turns by client; slots held by slow clients are taken back in part when others wait. Pure.
 * docs/decisions/0440
 */
import { createShares, type Shares } from '#lib/shares.ts';
import { createPauses, type Pauses } from './pauses.ts';

/**
 * `read`: a GET or HEAD without a body. `stream`: its body is passed on while it arrives. `write`: any other request.
 */
export type SlotUse = 'read' | 'write' | 'stream';

/** One request's claim to a slot. Compared by identity. */
export interface SlotClaim {
  /** See `clientNetwork`. */
  readonly client: string;
  readonly use: SlotUse;
}

/**
 * Why a claim gets no slot. `originBusy`: all are taken. `originShare`: its client or its kind of request holds its
 * share. `buffersFull`: the buffers had no room for its body, so it needs a slot of the `stream` kind, and that kind or
 * its client holds its share.
 */
export type Denied = 'originBusy' | 'originShare' | 'buffersFull';

export interface SlotBook<C extends SlotClaim> {
  readonly taken: number;
  readonly waiting: number;
  /** Takes a slot, joins the queue, or returns why neither is possible. */
  ask(claim: C): 'taken' | 'waiting' | Denied;
  /** Frees a slot. Returns the claims that get one instead, in order. */
  free(claim: C): readonly C[];
  /** Leaves the queue. */
  leave(claim: C): void;
  /** Returns why a waiting claim has no slot. */
  reasonFor(claim: C): Denied;
  /**
   * The origin waits for the claim's client from now until `resume`: for more of its request, or for it to read more of
   * its answer.
   */
  pause(claim: C, now: number): void;
  resume(claim: C, now: number): void;
  /** Returns a claim whose slot must be taken back for waiting claims; `undefined` if there is none. */
  findSlow(now: number): C | undefined;
}

export interface SlotBookOptions {
  readonly max: number;
  /** Limit of waiting claims; a further one is denied at once. */
  readonly maxWaiting: number;
  /** Total time that the origin waits for a client before its slot counts as slow. */
  readonly slowMs: number;
}

/** Share of all slots that one kind of request may hold. */
const USE_SHARES: Readonly<Record<SlotUse, number>> = { read: 7 / 8, write: 7 / 8, stream: 1 / 4 };
/** Share of all slots, and of those of one kind, that slow clients may hold while others wait. */
const SLOW_SHARE = 1 / 2;
const NO_CLAIMS: readonly never[] = [];
const USES: readonly SlotUse[] = ['read', 'write', 'stream'];

export function createSlotBook<C extends SlotClaim>({ max, maxWaiting, slowMs }: SlotBookOptions): SlotBook<C> {
  const slots = createShares(max);
  const queue = createShares(maxWaiting);
  const ofUse = (use: SlotUse) => createShares(maxOf(max, use));
  const byUse: Record<SlotUse, Shares> = { read: ofUse('read'), write: ofUse('write'), stream: ofUse('stream') };
  /** Waiting claims by client; the first client is next in turn. */
  const waiting = new Map<string, Set<C>>();
  const pauses = createPauses<C>(slowMs);

  const hasRoom = (use: SlotUse): boolean => slots.free > 0 && byUse[use].free > 0;
  const mayTake = ({ client, use }: SlotClaim): boolean => slots.mayTake(client, 1) && byUse[use].mayTake(client, 1);
  const take = ({ client, use }: C): void => {
    slots.add(client, 1);
    byUse[use].add(client, 1);
  };
  const leave = (claim: C): void => {
    const own = waiting.get(claim.client);
    if (own?.delete(claim) !== true) return;
    queue.add(claim.client, -1);
    if (own.size === 0) waiting.delete(claim.client);
  };
  const next = (): C | undefined => {
    for (const own of waiting.values()) for (const claim of own) if (mayTake(claim)) return claim;
    return undefined;
  };
  const serveNext = (): C | undefined => {
    const claim = next();
    if (claim === undefined) return undefined;
    const own = waiting.get(claim.client);
    leave(claim);
    if (own !== undefined && own.size > 0) {
      waiting.delete(claim.client); // moves the client to the end of the turns
      waiting.set(claim.client, own);
    }
    take(claim);
    return claim;
  };
  const reasonFor = ({ use }: C): Denied => whyNone(use, slots.free > 0);

  return {
    get taken() {
      return slots.taken;
    },
    get waiting() {
      return queue.taken;
    },
    ask: (claim) => {
      const { client } = claim;
      if (mayTake(claim)) {
        take(claim);
        return 'taken';
      }
      if (!queue.mayTake(client, 1)) return reasonFor(claim);
      const own = waiting.get(client) ?? new Set();
      waiting.set(client, own.add(claim));
      queue.add(client, 1);
      return 'waiting';
    },
    free: (claim) => {
      pauses.forget(claim);
      slots.add(claim.client, -1);
      byUse[claim.use].add(claim.client, -1);
      return waiting.size === 0 ? NO_CLAIMS : collectAll(serveNext);
    },
    leave,
    reasonFor,
    pause: pauses.pause,
    resume: pauses.resume,
    findSlow: (now) => {
      const short = USES.filter((use) => !hasRoom(use) && isWaitedFor(waiting, use));
      if (slots.free > 0) return findSlowOf(short, pauses, max, now);
      return short.length === 0 ? undefined : pauses.findSlowest(now, max * SLOW_SHARE);
    },
  };
}

function collectAll<C>(next: () => C | undefined): readonly C[] {
  const all: C[] = [];
  for (let one = next(); one !== undefined; one = next()) all.push(one);
  return all;
}

/** Finds a slow claim of one of these kinds. */
function findSlowOf<C extends SlotClaim>(
  uses: readonly SlotUse[],
  pauses: Pauses<C>,
  max: number,
  now: number,
): C | undefined {
  for (const use of uses) {
    const slow = pauses.findSlowest(now, maxOf(max, use) * SLOW_SHARE, (claim) => claim.use === use);
    if (slow !== undefined) return slow;
  }
  return undefined;
}

function maxOf(max: number, use: SlotUse): number {
  return Math.ceil(max * USE_SHARES[use]);
}

function whyNone(use: SlotUse, hasFree: boolean): Denied {
  if (!hasFree) return 'originBusy';
  return use === 'stream' ? 'buffersFull' : 'originShare';
}

function isWaitedFor(waiting: ReadonlyMap<string, ReadonlySet<SlotClaim>>, use: SlotUse): boolean {
  for (const own of waiting.values()) for (const claim of own) if (claim.use === use) return true;
  return false;
}
