/**
 * RTMP players of all streams: attaches them to their broadcast, counts them, and checks them again when settings
 * change.
 */
import type { HubViewer } from '#fanout/encoding.ts';
import { createShares, type Shares } from '#lib/shares.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import type { RtmpPlayer } from './rtmp/conversation.ts';

interface Playing {
  readonly key: string;
  readonly viewer: HubViewer;
  mayGoOn(): boolean;
}

/** What players attach to: the hub of a broadcast, or a relay of one. */
export interface MediaSource {
  attach(viewer: HubViewer): { detach(): void };
}

export interface PlayerOptions {
  readonly name: StreamName;
  readonly hub: MediaSource;
  /** Whether the rules still let the player watch. */
  mayGoOn(): boolean;
}

/**
 * Limit of players, paused ones included, of which each domain has a share. It leaves RTMP connections for publishers.
 */
const MAX_PLAYERS = 8_000;

export class Players {
  readonly #playing = new Set<Playing>();
  /** Shares of the domains. */
  readonly #shares: Shares;

  constructor(maxPlayers = MAX_PLAYERS) {
    this.#shares = createShares(maxPlayers);
  }

  /** Whether the domain may have another player. */
  hasRoom(domainId: number): boolean {
    return this.#shares.mayTake(String(domainId), 1);
  }

  create({ name, hub, mayGoOn }: PlayerOptions): RtmpPlayer {
    const domain = String(name.domainId);
    let isCounted = false;
    let stop = () => {};
    return {
      start: (viewer) => {
        // Counted until it leaves: a paused player keeps its share.
        if (!isCounted) this.#shares.add(domain, 1);
        isCounted = true;
        // A player was not checked while it was paused.
        if (!mayGoOn()) return viewer.cut();
        const playing: Playing = { key: streamKey(name), viewer, mayGoOn };
        const place = hub.attach(viewer);
        this.#playing.add(playing);
        stop = () => {
          place.detach();
          this.#playing.delete(playing);
        };
      },
      stop: () => stop(),
      leave: () => this.#shares.add(domain, -1),
    };
  }

  count(name: StreamName): number {
    const key = streamKey(name);
    let count = 0;
    for (const playing of this.#playing) if (playing.key === key) count++;
    return count;
  }

  recheck(): void {
    for (const playing of [...this.#playing]) if (!playing.mayGoOn()) playing.viewer.cut();
  }
}
