/**
 * Whether a player may play a stream by RTMP: the domain's state, addresses, play keys, marks. RTMP has no Referer.
 * Pure.
 */
import { isAppName, isForbidden, isStreamName } from '#sites/live.ts';
import { checkAuthKey } from '#sites/live-key.ts';
import type { AskedPublish, PublishDenial } from './publish-access.ts';

export type PlayDenial = Exclude<PublishDenial, 'address'>;

/** Returns `undefined` if playing is allowed. */
export function denialOfPlay(asked: Omit<AskedPublish, 'pushAuth'>): PlayDenial | undefined {
  const { site, app, stream, clientAddress, now } = asked;
  if (!isAppName(app) || !isStreamName(stream)) return 'name';
  if (site === undefined || site.type !== 'live') return 'domain';
  if (site.state !== 'open') return 'closed';
  if (site.access.deniedAddresses?.denies(clientAddress) === true) return 'ip';
  const keys = asked.keys?.play ?? [];
  if (keys.length > 0) {
    const check = checkAuthKey({ value: asked.authKey, path: `/${app}/${stream}`, keys, now });
    if (check.kind === 'refused') return `key ${check.reason}`;
  }
  return isForbidden(asked.mark, now) ? 'forbidden' : undefined;
}
