/**
 * Hints of changed messages: the versions of the watched accounts are compared with those that were told. At most one a
 * second for an account, and the last change is always told. docs/decisions/0690
 */
import type { Executor } from '#db/schema/schema.ts';
import { forgetMessageWatches, readMessageVersions, watchMessages } from '#db/tables/sms/message-watch.ts';
import { type Hint, messagesHint } from '#model/hint.ts';

/** Time between two hints of an account. */
const APART_MS = 1_000;
/** How long changes are counted after the last look, and how often that is said again. */
const KEPT_MS = 60_000;
const KEEP_EVERY_MS = 20_000;

interface Told {
  readonly version: number;
  readonly at: number;
}

export class MessageWatch {
  #told = new Map<number, Told>();
  #keptAt = Number.NEGATIVE_INFINITY;

  /** Resolves when changes of the account's messages are seen by the next look. */
  async follow(x: Executor, accountId: number, now: number): Promise<void> {
    await watchMessages(x, [accountId], now + KEPT_MS);
    if (this.#told.has(accountId)) return;
    const version = (await readMessageVersions(x, [accountId])).get(accountId) ?? 0;
    this.#told.set(accountId, { version, at: Number.NEGATIVE_INFINITY });
  }

  /** Returns the hints of accounts that are followed; others than `accountIds` are followed no longer. */
  async look(x: Executor, accountIds: ReadonlySet<number>, now: number): Promise<readonly Hint[]> {
    this.#told = new Map([...this.#told].filter(([id]) => accountIds.has(id)));
    const followed = [...this.#told.keys()];
    await this.#keep(x, followed, now);
    const hints: Hint[] = [];
    for (const [accountId, version] of await readMessageVersions(x, followed)) {
      const told = this.#told.get(accountId);
      if (told === undefined || told.version === version || Math.abs(now - told.at) < APART_MS) continue;
      this.#told.set(accountId, { version, at: now });
      hints.push(messagesHint(accountId, now));
    }
    return hints;
  }

  async #keep(x: Executor, followed: readonly number[], now: number): Promise<void> {
    if (followed.length === 0 || Math.abs(now - this.#keptAt) < KEEP_EVERY_MS) return;
    await watchMessages(x, followed, now + KEPT_MS);
    await forgetMessageWatches(x, now);
    this.#keptAt = now;
  }
}
