/** Works on due orders, several at a time, each under a lease. Several processes on one database share them. */
import type { Controls } from '#db/peers/peers.ts';
import { claimOrders, freeOrders, giveOrdersBack, hasDueOrders } from '#db/tables/certificate-orders.ts';
import { correctOrders } from './clock-back.ts';
import { type WorkParts, workOrder } from './work.ts';

export interface WorkerParts extends WorkParts {
  /** The controls that share the database. */
  readonly peers: Pick<Controls, 'mayClaim'>;
}

export interface AcmeWorker extends AsyncDisposable {
  /** Works on all orders that are due or become due meanwhile. Rejects if the database does not answer. */
  round(): Promise<void>;
}

const MAX_UNDER_WAY = 8;
/** Limit of one step. */
const STEP_LIMIT_MS = 60_000;
/** Lease of an order, longer than a step, so that no other process takes it meanwhile. */
const LEASE_MS = 2 * STEP_LIMIT_MS;
const POLL_MS = 500;
/** Delay after a failure of the database or the key ring; other orders get their turn meanwhile. */
const RETRY_MS = 2_000;

/** `pollMs` 0: works only when `round` is called. */
export async function startAcmeWorker(parts: WorkerParts, pollMs = POLL_MS): Promise<AcmeWorker> {
  const { db, log } = parts;
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  let isFailing = false;
  /** Whether the last round failed, so that we may still hold leases. */
  let isOwing = false;
  if (db.engine === 'sqlite') await freeOrders(db.query);

  const round = (): Promise<void> => {
    running ??= giveBackAndWork().finally(() => {
      running = undefined;
    });
    return running;
  };
  const giveBackAndWork = async () => {
    if (isOwing) await giveOrdersBack(db.query, { owner: parts.owner, now: parts.clock(), waitMs: RETRY_MS });
    isOwing = true;
    await rounds(parts, stop.signal);
    isOwing = false;
  };
  const poll = () => {
    round().then(
      () => {
        isFailing = false;
      },
      (error: unknown) => {
        if (!isFailing) log.error({ err: error }, 'cannot process certificate orders; retrying');
        isFailing = true;
      },
    );
  };
  const timer = pollMs === 0 ? undefined : setInterval(poll, pollMs);
  return {
    round,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stop.abort();
      await running?.catch(() => undefined); // logged by `poll`
    },
  };
}

async function rounds(parts: WorkerParts, stopping: AbortSignal): Promise<void> {
  const { db, clock, owner, log } = parts;
  await correctOrders({ db, log, now: clock(), leaseMs: LEASE_MS });
  while (!stopping.aborted && parts.peers.mayClaim && (await hasDueOrders(db.query, clock()))) {
    const now = clock();
    const claim = { owner, leaseUntil: now + LEASE_MS, now, limit: MAX_UNDER_WAY };
    const orders = await db.transaction((trx) => claimOrders(trx, claim));
    if (orders.length === 0) return;
    const done = await Promise.allSettled(
      orders.map((order) => workOrder(parts, order, AbortSignal.any([stopping, AbortSignal.timeout(STEP_LIMIT_MS)]))),
    );
    const failed = done.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
