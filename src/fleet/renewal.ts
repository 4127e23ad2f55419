/**
 * Renews the identity of this edge at half of its certificate's life, or announces it if the certificate was issued by
 * the operator's own authority. docs/decisions/0583, 0585
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import { type Identity, readIdentity } from './identity.ts';
import { createIdentityReader, type IdentitySource } from './identity-reader.ts';
import { renewIdentity } from './obtain-identity.ts';
import { announceIdentity } from './own-identity.ts';
import { FleetRefusal } from './refusal.ts';

/** Interval of checks. A random part spreads the requests of edges that were away together. */
const LOOK_MS = 60_000;
const SPREAD_MS = 30_000;
/** A lasting failure is logged again after this time. */
const SAY_AGAIN_MS = 3_600_000;

export interface RenewalOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Renewal extends AsyncDisposable {
  /** End of the certificate; `undefined` if there is no identity. */
  readonly notAfter: number | undefined;
}

export function startRenewal({ dataDir, clock, log }: RenewalOptions): Renewal {
  let saidAt = Number.NEGATIVE_INFINITY;
  let notAfter: number | undefined;
  const rounds = startRounds({
    everyMs: LOOK_MS,
    async work(signal) {
      const identity = readIdentity(dataDir);
      notAfter = identity?.notAfter;
      if (identity === undefined || !isRenewalDue(identity, clock())) return;
      await delay(Math.random() * SPREAD_MS, undefined, { signal }).catch(() => undefined); // rejects only at a stop
      if (signal.aborted) return;
      const renewed = await renewIdentity(dataDir, clock());
      notAfter = renewed.notAfter;
      saidAt = Number.NEGATIVE_INFINITY;
      log.info({ serial: renewed.serial, notAfter: new Date(renewed.notAfter).toISOString() }, 'identity renewed');
    },
    onFailure(error) {
      const now = clock();
      if (Math.abs(now - saidAt) < SAY_AGAIN_MS) return;
      saidAt = now;
      const isRefused = error instanceof FleetRefusal && error.status < 500;
      log.error(
        { err: error },
        isRefused
          ? 'control refuses to renew the identity of this edge'
          : 'cannot renew the identity of this edge; retrying',
      );
    },
  });
  return {
    get notAfter() {
      return notAfter;
    },
    [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose](),
  };
}

/**
 * Whether the identity is to be renewed. That follows from the time since it was saved, by the clock of this machine alone:
 * one that is days off must renew neither too late nor at every look.
 */
export function isRenewalDue(
  { savedAt, renewAfterMs }: Pick<Identity, 'savedAt' | 'renewAfterMs'>,
  now: number,
): boolean {
  return Math.abs(now - savedAt) >= renewAfterMs;
}

/** Announces the identity until a control has answered, once for each start of the service. */
export function startAnnouncement(source: IdentitySource, log: Logger): AsyncDisposable {
  const read = createIdentityReader(source);
  let isDone = false;
  return startRounds({
    everyMs: LOOK_MS,
    async work() {
      if (isDone) return;
      await announceIdentity(source.dataDir, read());
      isDone = true;
    },
    onFailure(error, isRepeated) {
      if (!isRepeated) log.error({ err: error }, 'cannot announce the identity of this edge to control; retrying');
    },
  });
}
