/** Whether a viewer's address has a key that its domain wants. What the edge's store says of keys is kept until settings change. */
import type { LiveMarkSource } from '#sites/live.ts';
import { checkAuthKey, readAuthKey } from '#sites/live-key.ts';

export interface AskedKey {
  readonly domainId: number;
  /** That was signed. */
  readonly path: string;
  /** The request's query, from the question mark on. */
  readonly query: string;
  readonly now: number;
}

/** Domains whose keys are kept; with one more, all are read anew. */
const MAX_DOMAINS = 10_000;

export class PlayKeys {
  readonly #source: Pick<LiveMarkSource, 'getLiveKeys'>;
  readonly #keys = new Map<number, readonly string[]>();

  constructor(source: Pick<LiveMarkSource, 'getLiveKeys'>) {
    this.#source = source;
  }

  isAllowed({ domainId, path, query, now }: AskedKey): boolean {
    const keys = this.#keysOf(domainId);
    if (keys.length === 0) return true;
    return checkAuthKey({ value: readAuthKey(query), path, keys, now }).kind === 'valid';
  }

  /** Settings have changed. */
  forget(): void {
    this.#keys.clear();
  }

  #keysOf(domainId: number): readonly string[] {
    const known = this.#keys.get(domainId);
    if (known !== undefined) return known;
    const keys = this.#source.getLiveKeys(domainId)?.play ?? [];
    if (this.#keys.size >= MAX_DOMAINS) this.#keys.clear();
    this.#keys.set(domainId, keys);
    return keys;
  }
}
