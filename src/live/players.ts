/** RTMP players of all streams: attached to their broadcast, counted, and asked again when settings change. */
import type { HubViewer } from '#fanout/encoding.ts';
import type { Hub } from '#fanout/hub.ts';
import { createShares, type Shares } from '#lib/shares.ts';
import type { StreamName } from './live-stream.ts';
import type { RtmpPlayer } from './rtmp/conversation.ts';
import { keyOf } from './stream-lines.ts';

interface Playing {
  readonly key: string;
  readonly viewer: HubViewer;
  mayGoOn(): boolean;
}

export interface PlayerOptions {
  readonly name: StreamName;
  readonly hub: Hub;
  /** Whether the rules still let the player watch. */
  mayGoOn(): boolean;
}

/** Players at once, paused ones included; each domain has a share of them. Some RTMP connections are left for publishers. */
const MAX_PLAYERS = 8_000;

export class Players {
  readonly #playing = new Set<Playing>();
  /** Each domain's share. */
  readonly #shares: Shares;

  constructor(maxPlayers = MAX_PLAYERS) {
    this.#shares = createShares(maxPlayers);
  }

  /** Whether the domain may have another one. */
  hasRoom(domainId: number): boolean {
    return this.#shares.mayTake(String(domainId), 1);
  }

  create({ name, hub, mayGoOn }: PlayerOptions): RtmpPlayer {
    const domain = String(name.domainId);
    let isCounted = false;
    let stop = () => {};
    return {
      start: (viewer) => {
        // Counted until it leaves: a paused player keeps its place.
        if (!isCounted) this.#shares.add(domain, 1);
        isCounted = true;
        // A player that was paused was not asked meanwhile.
        if (!mayGoOn()) return viewer.cut();
        const playing: Playing = { key: keyOf(name), viewer, mayGoOn };
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
    const key = keyOf(name);
    let count = 0;
    for (const playing of this.#playing) if (playing.key === key) count++;
    return count;
  }

  recheck(): void {
    for (const playing of [...this.#playing]) if (!playing.mayGoOn()) playing.viewer.cut();
  }
}
