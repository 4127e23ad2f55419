/** Checks the keys in viewers' addresses. The domains' keys are cached until settings change. */
import type { LiveMarkSource } from '#sites/live.ts';
import { checkAuthKey, readAuthKey } from '#sites/live-key.ts';

export interface AskedKey {
  readonly domainId: number;
  /** Path that the key is signed for. */
  readonly path: string;
  /** The request's query, from the question mark on. */
  readonly query: string;
  readonly now: number;
}

/** Limit of cached domains; beyond it, the cache is cleared. */
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

  /** Clears the cache, as settings have changed. */
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
