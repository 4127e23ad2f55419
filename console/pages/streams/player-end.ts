/** Why a player has ended, from what its library says. Pure. */

/**
 * `ended`: the service ended the stream. `full`, `silent`, `refused`: it did not begin it, see the operation. `codec`: the
 * browser cannot play it. `lost`: anything else.
 */
export type PlayerEnd = 'ended' | 'full' | 'silent' | 'refused' | 'codec' | 'lost';

const BY_STATUS: Readonly<Record<number, PlayerEnd>> = { 401: 'refused', 403: 'refused', 429: 'full', 504: 'silent' };

/** `type` and `status`: as the event `error` of mpegts.js has them. */
export function playerEndOf(type: string, status: unknown): PlayerEnd {
  if (type === 'MediaError') return 'codec';
  return (typeof status === 'number' ? BY_STATUS[status] : undefined) ?? 'lost';
}
