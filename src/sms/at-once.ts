/**
 * Messages that are sent in the round that accepts them, because their queue is empty: they are stored as claimed and
 * are never queued. Pure. docs/decisions/0361
 */
import type { RequestToStore } from '#db/tables/sms/accept.ts';
import type { ClaimedPart, Lane } from '#db/tables/sms/claim.ts';
import { type Turns, takeTurns, takeWholeTurns } from '#db/tables/sms/turns.ts';

/** A connector that has room and whose queues hold no ordinary message. */
export interface Opening {
  readonly connectorId: number;
  readonly lanes: readonly Lane[];
  /** Parts that may be sent. */
  readonly limit: number;
  /** Whether the parts of a message must go out one after the other. */
  readonly wholeMessages: boolean;
  /** Accounts that were served last. */
  readonly after: Turns;
}

export interface AtOnce {
  /** Connector by message id. */
  readonly connectors: ReadonlyMap<number, number>;
  /** Parts of each connector, in order of sending. */
  readonly parts: ReadonlyMap<number, readonly ClaimedPart[]>;
}

/**
 * Assigns due messages to connectors. Accounts take turns, as in a queue. A message is sent with all its parts or not
 * at all; advertising is always queued.
 */
export function startAtOnce(requests: readonly RequestToStore[], openings: readonly Opening[], now: number): AtOnce {
  const connectors = new Map<number, number>();
  const parts = new Map<number, readonly ClaimedPart[]>();
  const due = openings.length === 0 ? [] : requests.filter((request) => isDue(request, now)).flatMap(partsOf);
  for (const { connectorId, lanes, limit, wholeMessages, after } of openings) {
    // None of these parts has been tried.
    const routes = new Set(lanes.filter(({ minTries }) => minTries === 0).map(({ route }) => route));
    const takeInTurn = wholeMessages ? takeWholeTurns : takeTurns;
    const inTurn = takeInTurn(
      due.filter(({ route }) => routes.has(route)),
      after[0] ?? 0,
    );
    const cut = new Set(inTurn.slice(limit).map(({ messageId }) => messageId));
    const own = inTurn.slice(0, limit).filter(({ messageId }) => !cut.has(messageId));
    for (const { messageId } of own) connectors.set(messageId, connectorId);
    parts.set(connectorId, own);
  }
  return { connectors, parts };
}

function isDue({ asked, dueAt, expireAt }: RequestToStore, now: number): boolean {
  return asked.kind === 'ordinary' && dueAt <= now && expireAt > now;
}

/**
 * Parts as `claimParts` returns them once they are stored. Requests and messages are destructured completely, so that a
 * new member, which may be a reason to wait, does not compile until it is handled here.
 */
function partsOf(request: RequestToStore): readonly ClaimedPart[] {
  const { id: _id, asked, appId, texts, dueAt, expireAt, messages, ...unknown } = request;
  unknown satisfies Record<string, never>;
  const { accountId, appKey: _key, kind: _kind, smsType: _type, replayHash: _hash, sendid: _sendid, ...more } = asked;
  more satisfies Record<string, never>;
  return messages.flatMap(({ id, partIds, destination, route, reference, isOptedOut, price: _price, ...others }) => {
    others satisfies Record<string, never>;
    if (isOptedOut) return [];
    const partOf = (text: string, index: number): Required<ClaimedPart> => ({
      id: partIds[index] ?? 0,
      messageId: id,
      appId,
      accountId,
      part: index + 1,
      parts: texts.length,
      text,
      destination,
      reference,
      tries: 0,
      priority: 0,
      route,
      dueAt,
      expireAt,
    });
    return texts.map(partOf);
  });
}
