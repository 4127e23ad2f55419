/**
 * Holders of the slots at an origin, and the queue for them. No client, and no kind of requests, may have all slots; waiting
 * requests take turns by client; of slots held at the pace of slow clients, some are taken back when others wait. Pure.
 * docs/decisions/0440
 */
import { createShares, type Shares } from '#lib/shares.ts';
import { createPauses, type Pauses } from './pauses.ts';

/** `read`: a GET or HEAD without a body. `stream`: its body is passed on while it arrives. `write`: any other. */
export type SlotUse = 'read' | 'write' | 'stream';

/** One request's claim to a slot. Compared by identity. */
export interface SlotClaim {
  /** See `clientNetwork`. */
  readonly client: string;
  readonly use: SlotUse;
}

/**
 * Why a claim gets no slot. `originBusy`: all are taken. `originShare`: its client or its kind of requests has its share.
 * `buffersFull`: it would have needed none before its body had arrived, but the buffers had no room for that, and requests of this
 * kind, or its client, have their share.
 */
export type Denied = 'originBusy' | 'originShare' | 'buffersFull';

export interface SlotBook<C extends SlotClaim> {
  readonly taken: number;
  readonly waiting: number;
  /** A slot at once, a slot in the queue, or neither. */
  ask(claim: C): 'taken' | 'waiting' | Denied;
  /** Gives a slot back. Returns the claims that have one now instead, in their order. */
  free(claim: C): readonly C[];
  /** Leaves the queue. */
  leave(claim: C): void;
  /** Why a claim that waits has no slot. */
  reasonFor(claim: C): Denied;
  /** The origin waits for the claim's client from now on, until `resume`: to send more of its request, or to take more of its answer. */
  pause(claim: C, now: number): void;
  resume(claim: C, now: number): void;
  /** The claim whose slot is to be taken back for those who wait; `undefined`: none. */
  findSlow(now: number): C | undefined;
}

export interface SlotBookOptions {
  readonly max: number;
  /** One more claim is denied at once. */
  readonly maxWaiting: number;
  /** Time that the origin has waited for a client, in all, from which its slot counts as slow. */
  readonly slowMs: number;
}

/** Share of all slots for one kind of requests. */
const USE_SHARES: Readonly<Record<SlotUse, number>> = { read: 7 / 8, write: 7 / 8, stream: 1 / 4 };
/** Share of all slots, and of those for one kind of requests, for slow clients while others wait. */
const SLOW_SHARE = 1 / 2;
const USES: readonly SlotUse[] = ['read', 'write', 'stream'];

export function createSlotBook<C extends SlotClaim>({ max, maxWaiting, slowMs }: SlotBookOptions): SlotBook<C> {
  const slots = createShares(max);
  const queue = createShares(maxWaiting);
  const ofUse = (use: SlotUse) => createShares(maxOf(max, use));
  const byUse: Record<SlotUse, Shares> = { read: ofUse('read'), write: ofUse('write'), stream: ofUse('stream') };
  /** Waiting claims of each client; the first client is the next in turn. */
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
      waiting.delete(claim.client); // its next turn comes after those of the others
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
      const served: C[] = [];
      for (let one = serveNext(); one !== undefined; one = serveNext()) served.push(one);
      return served;
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

/** Looks among claims of these kinds only. */
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
