/** The pulls of all streams. Single flight: viewers of one stream share a pull. */
import type { Scheme } from '#http/absolute-form.ts';
import { createShares, type Shares } from '#lib/shares.ts';
import type { AccessLog } from '#logs/spool.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import type { Owner } from '../owner.ts';
import type { RareLines } from '../rare-lines.ts';
import type { ConnectOrigin } from './origin-stream.ts';
import { listPlaces } from './places.ts';
import { Pull, type PullLimits, type PullStart } from './pull.ts';

export interface PullsOptions {
  readonly owner: Owner;
  readonly connect: ConnectOrigin;
  readonly accessLog: Pick<AccessLog, 'countOrigin'>;
  readonly limits: PullLimits;
  readonly rareLines: RareLines;
}

export class Pulls {
  readonly #options: PullsOptions;
  readonly #pulls = new Map<string, Pull>();
  /** Shares of the domains. */
  readonly #shares: Shares;

  constructor(options: PullsOptions) {
    this.#options = options;
    this.#shares = createShares(options.limits.maxPulls);
  }

  /** Resolves when the stream is on air or cannot be pulled. `scheme` and `host` are those of the viewer. */
  async open(name: StreamName, scheme: Scheme, host: string): Promise<PullStart> {
    const { owner, accessLog, connect, limits, rareLines } = this.#options;
    const key = streamKey(name);
    const known = this.#pulls.get(key);
    if (known !== undefined) return await known.started;
    const site = owner.siteOf(host);
    if (site?.id !== name.domainId || site.type !== 'live' || site.state !== 'open') return { kind: 'notFound' };
    const places = listPlaces(site, scheme, host);
    if (places.length === 0) return { kind: 'notFound' };
    const holder = String(name.domainId);
    if (!this.#shares.mayTake(holder, 1) || this.#countStarting(name.domainId) >= limits.maxStarting) {
      rareLines.warn(name.domainId, { ...name }, 'stream not pulled: its domain has reached its limit of pulls');
      return { kind: 'full' };
    }
    const pull = new Pull({
      places,
      path: `/${name.app}/${name.stream}.flv`,
      connect,
      limits,
      admit: (side) => owner.admit(name, host, side),
      countBytes: (bytes) => accessLog.countOrigin(name.domainId, bytes),
      lines: { warn: (fields, message) => rareLines.warn(name.domainId, fields, message) },
    });
    this.#pulls.set(key, pull);
    this.#shares.add(holder, 1);
    const leave = () => {
      this.#pulls.delete(key);
      this.#shares.add(holder, -1);
    };
    void pull.run().finally(leave); // never rejects
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
