/** Changes of domains that edges have not all applied yet, and when to look again at how far they have come. Pure. */
import type { Happening, Hint } from './hint.ts';

/** The last report of an edge, in short. */
export interface EdgeProgress {
  readonly edge: string;
  readonly appliedRevision: number;
  /** JSON of what it rejects, only compared. */
  readonly rejected: string;
}

interface Pending {
  readonly accountId: number | undefined;
  readonly revision: number;
  readonly until: number;
  /** The reports of the edges as of the last hint. */
  told: string;
}

/** Changes that are followed at once; beyond it the oldest are forgotten. */
const MAX_PENDING = 1_000;
/** Time for which a change is followed: after it an edge is away, or frozen. */
const FOLLOWED_MS = 60_000;

export class PropagationWatch {
  /** Changes by id of their domain, oldest first. */
  readonly #pending = new Map<string, Pending>();

  get isEmpty(): boolean {
    return this.#pending.size === 0;
  }

  /** Follows the change if it is one of a domain's settings. */
  follow({ target, revision, accountId }: Happening, now: number): void {
    if (target.kind !== 'domain' || revision === undefined) return;
    this.#pending.delete(target.id);
    this.#pending.set(target.id, { accountId, revision, until: now + FOLLOWED_MS, told: '' });
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > MAX_PENDING && oldest !== undefined) this.#pending.delete(oldest);
  }

  /** Returns a hint for each domain of which edges say something else than before. */
  look(edges: readonly EdgeProgress[], now: number): readonly Hint[] {
    const rejected = edges.map(({ rejected }) => rejected).join('\n');
    const hints: Hint[] = [];
    for (const [id, pending] of this.#pending) {
      const { revision, accountId } = pending;
      const done = edges.filter(({ appliedRevision }) => appliedRevision >= revision).length;
      const said = `${done} of ${edges.length}\n${rejected}`;
      if (done > 0 && said !== pending.told)
        hints.push({ kind: 'domain', id, revision, at: now, hint: 'propagation', accountId });
      pending.told = said;
      if (now >= pending.until || (edges.length > 0 && done === edges.length)) this.#pending.delete(id);
    }
    return hints;
  }
}
