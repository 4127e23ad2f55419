/** Formats and parses the position of an edge as the query of its requests for a stream or a snapshot. */
import type { FeedPosition } from '#model/feed-position.ts';
import { MessageError } from './messages.ts';

export function formatPositionQuery({ epoch, revision, tag }: FeedPosition): string {
  return new URLSearchParams({ epoch, revision: String(revision), tag }).toString();
}

/** Throws `MessageError`. */
export function parsePositionQuery(text: string): FeedPosition {
  const query = new URLSearchParams(text);
  const epoch = query.get('epoch') ?? '';
  const revision = query.get('revision') ?? '';
  const tag = query.get('tag') ?? '';
  if (!/^[\w-]{1,64}$/.test(epoch)) throw new MessageError('epoch: expected the epoch of a snapshot');
  if (!/^\d{1,15}$/.test(revision)) throw new MessageError('revision: expected a decimal number');
  if (!/^[\w-]{1,64}$/.test(tag)) throw new MessageError('tag: expected that of the revision');
  return { epoch, revision: Number(revision), tag };
}
