/**
 * Streams that the predecessor has on air, for RTMP players of this process: all players of one share a relay. Single
 * flight: players that come meanwhile wait for the same request.
 */
import { HUB_LIMITS } from '#fanout/hub.ts';
import { Relay } from '#fanout/relay.ts';
import type { Logger } from '#lib/logger.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import type { Predecessor } from './predecessor.ts';

export interface MirrorsOptions {
  predecessor(): Pick<Predecessor, 'openFlv'> | undefined;
  readonly log: Logger;
}

export class Mirrors {
  readonly #options: MirrorsOptions;
  /** Relays that are over stay until they are asked for again; there are no more than the predecessor had streams. */
  readonly #opening = new Map<string, Promise<Relay | undefined>>();

  constructor(options: MirrorsOptions) {
    this.#options = options;
  }

  /** Returns `undefined` if the predecessor does not have the stream. Never rejects. */
  async open(name: StreamName): Promise<Relay | undefined> {
    const key = streamKey(name);
    const known = this.#opening.get(key);
    const present = await known;
    if (present?.isOver === false) return present;
    if (this.#opening.get(key) === known) this.#opening.delete(key);
    const opening = this.#opening.get(key) ?? this.#connect(name);
    this.#opening.set(key, opening);
    return await opening;
  }

  async #connect(name: StreamName): Promise<Relay | undefined> {
    const { predecessor, log } = this.#options;
    const stream = streamKey(name);
    try {
      const answer = await predecessor()?.openFlv(name);
      if (answer?.statusCode !== 200) {
        answer?.resume();
        return undefined;
      }
      const relay = new Relay(answer, HUB_LIMITS);
      void relay.run().then((problem) => {
        if (problem !== undefined) log.info({ err: problem, stream }, 'relay of a broadcast failed');
      });
      return relay;
    } catch (error) {
      log.info({ err: error, stream }, 'cannot relay a broadcast of the earlier live process');
      return undefined;
    }
  }
}
