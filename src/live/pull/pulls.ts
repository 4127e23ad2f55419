/** The pulls of all streams: one for each, however many viewers ask for it. */
import type { Logger } from '#lib/logger.ts';
import type { AccessLog } from '#logs/spool.ts';
import type { Scheme } from '#sites/origin-keys.ts';
import type { StreamName } from '../live-stream.ts';
import type { Owner } from '../owner.ts';
import { keyOf } from '../stream-lines.ts';
import type { ConnectOrigin } from './origin-stream.ts';
import { listPlaces } from './places.ts';
import { Pull, type PullLimits, type PullStart } from './pull.ts';

export interface PullsOptions {
  readonly owner: Owner;
  readonly connect: ConnectOrigin;
  readonly accessLog: Pick<AccessLog, 'countOrigin'>;
  readonly limits: PullLimits;
  readonly log: Logger;
}

/** At once; viewers choose the names. */
const MAX_PULLS = 2_000;

export class Pulls {
  readonly #options: PullsOptions;
  readonly #pulls = new Map<string, Pull>();

  constructor(options: PullsOptions) {
    this.#options = options;
  }

  /** `scheme` and `host`: of the viewer. Resolves when the stream is on air, or is not to be had. */
  async open(name: StreamName, scheme: Scheme, host: string): Promise<PullStart> {
    const { owner, accessLog, connect, limits, log } = this.#options;
    const key = keyOf(name);
    const known = this.#pulls.get(key);
    if (known !== undefined) return await known.started;
    const site = owner.siteOf(host);
    if (site?.id !== name.domainId || site.type !== 'live' || site.state !== 'open') return { kind: 'notFound' };
    const places = listPlaces(site, scheme, host);
    if (places.length === 0) return { kind: 'notFound' };
    if (this.#pulls.size >= MAX_PULLS || this.#countStarting(name.domainId) >= limits.maxStarting)
      return { kind: 'failed', isTimeout: false };
    const pull = new Pull({
      places,
      path: `/${name.app}/${name.stream}.flv`,
      connect,
      limits,
      admit: (side) => owner.admit(name, host, side),
      countBytes: (bytes) => accessLog.countOrigin(name.domainId, bytes),
      log,
    });
    this.#pulls.set(key, pull);
    void pull.run().finally(() => this.#pulls.delete(key)); // never rejects
    return await pull.started;
  }

  #countStarting(domainId: number): number {
    let count = 0;
    for (const [key, pull] of this.#pulls) if (pull.isStarting && key.startsWith(`${domainId}/`)) count++;
    return count;
  }

  stop(): void {
    for (const pull of this.#pulls.values()) pull.stop();
  }
}
