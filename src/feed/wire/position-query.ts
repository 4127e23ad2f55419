/** Formats and parses the position of an edge as the query of its requests for a stream or a snapshot. */
import type { FeedPosition } from '#model/feed-position.ts';
import { MessageError } from './messages.ts';

/** `view`: id of the view that the edge has; absent if it has everything, or nothing. */
export function formatPositionQuery({ epoch, revision, tag }: FeedPosition, view?: string): string {
  const place = { epoch, revision: String(revision), tag };
  return new URLSearchParams(view === undefined ? place : { ...place, view }).toString();
}

/** Returns the view of a query; empty if it names none. Throws `MessageError`. */
export function parseViewQuery(text: string): string {
  const view = new URLSearchParams(text).get('view') ?? '';
  if (!/^[\w.-]{0,64}$/.test(view)) throw new MessageError('view: expected the id of a view');
  return view;
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
