/** The edge's side of view keys: keeps received keys in memory, fetches others, and opens secrets with them. */

import {
  MAX_VIEW_KEY_IDS,
  type ResourceChange,
  STATUS_MS,
  SUSPECT,
  type UnopenedSecret,
  VIEW_KEYS_PATH,
  WITHHELD,
} from '../wire/protocol.ts';
import { openUnder, openViewKey, type SealedViewKey } from '../wire/view-key-box.ts';
import { parseSealedKeys, parseViewKey, readSealedBody } from '../wire/view-key-messages.ts';
import type { ControlLink } from './control-link.ts';
import { FeedRefusal, requestFeed } from './feed-request.ts';

export interface EdgeViewKeys {
  /** Keeps a key that control sent. Throws if it was not sealed to this edge. */
  take(text: string): void;
  /** Forgets all keys: in a database that was restored, other keys may have their ids. */
  forget(): void;
  /**
   * Returns the changes with their secrets opened. Keys that are lacking are fetched; a secret that control withholds has
   * the problem `WITHHELD` in its place.
   */
  open(changes: readonly ResourceChange[], signal: AbortSignal): Promise<readonly ResourceChange[]>;
  /** Whether control gives this edge keys. */
  areGiven(signal: AbortSignal): Promise<boolean>;
}

/** Limit of kept keys: a few days of a group, far more than are in use. */
const MAX_KEPT = 64;

export function createEdgeViewKeys(link: ControlLink): EdgeViewKeys {
  const kept = new Map<string, Buffer>();
  const keep = (sealed: SealedViewKey) => {
    const own = link.credentials;
    if (own === undefined) throw new Error('a view key for an edge without an identity');
    kept.delete(sealed.vk);
    kept.set(sealed.vk, openViewKey(sealed, own.sealKey, own));
    for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest);
  };
  /** Returns false if control withholds keys from this edge. */
  const fetchKeys = async (ids: readonly string[], signal: AbortSignal): Promise<boolean> => {
    const body = JSON.stringify({ ids });
    try {
      const response = await requestFeed({ link, path: VIEW_KEYS_PATH, signal, silenceMs: STATUS_MS, body });
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece;
      for (const sealed of parseSealedKeys(text)) keep(sealed);
      return true;
    } catch (error) {
      if (error instanceof FeedRefusal && error.reason.startsWith(`${SUSPECT}:`)) return false;
      throw error;
    }
  };
  return {
    take: (text) => keep(parseViewKey(text)),
    forget: () => kept.clear(),
    async open(changes, signal) {
      const lacking = new Set(changes.flatMap((change) => readSealed(change)?.vk ?? []).filter((id) => !kept.has(id)));
      const ids = [...lacking];
      let areGiven = true;
      for (let from = 0; from < ids.length; from += MAX_VIEW_KEY_IDS)
        areGiven = (await fetchKeys(ids.slice(from, from + MAX_VIEW_KEY_IDS), signal)) && areGiven;
      return changes.map((change) => openChange(change, kept, areGiven));
    },
    areGiven: (signal) => fetchKeys([], signal),
  };
}

function readSealed(change: ResourceChange) {
  return change.op === 'put' ? readSealedBody(change.body) : undefined;
}

function openChange(change: ResourceChange, keys: ReadonlyMap<string, Buffer>, areGiven: boolean): ResourceChange {
  const sealed = readSealed(change);
  if (sealed === undefined || change.op !== 'put') return change;
  const { kind, key, revision } = change;
  const viewKey = keys.get(sealed.vk);
  if (viewKey === undefined)
    return { ...change, body: problem(areGiven ? `the view key ${sealed.vk} is not known` : WITHHELD) };
  try {
    const text = openUnder(viewKey, { kind, key, revision, vk: sealed.vk }, sealed.sealed);
    const { certificate } = sealed;
    return { ...change, body: certificate === undefined ? JSON.parse(text) : { certificate, key: text } };
  } catch {
    return { ...change, body: problem(`its secret does not open with the view key ${sealed.vk}`) }; // and is rejected
  }
}

function problem(text: string): UnopenedSecret {
  return { problem: text };
}
