/** Whether a publisher may publish: names, the domain and its state, addresses, keys, marks. Pure. */
import { createAddressSet, unmapAddress } from '#lib/cidr.ts';
import { isAppName, isForbidden, isStreamName, type LiveKeys, type LiveMark } from '#sites/live.ts';
import { checkAuthKey, type LiveKeyRefusal } from '#sites/live-key.ts';
import type { Site } from '#sites/site.ts';

export type PublishDenial =
  /** The name of the app or the stream is malformed. */
  | 'name'
  /** There is no live domain of this name here. */
  | 'domain'
  /** The domain is not open. */
  | 'closed'
  /** The domain refuses the client's address. */
  | 'ip'
  /** Publishing needs no key, and the address is not a loopback or private one. */
  | 'address'
  /** The stream is paused. */
  | 'forbidden'
  | `key ${LiveKeyRefusal}`;

export interface AskedPublish {
  /** Site of the host that the client named; absent if it is not one of ours. */
  readonly site: Pick<Site, 'type' | 'state' | 'access'> | undefined;
  readonly app: string;
  readonly stream: string;
  readonly clientAddress: string;
  /** The value of `auth_key`. */
  readonly authKey: string | undefined;
  readonly pushAuth: 'off' | 'required';
  readonly keys: LiveKeys | undefined;
  readonly mark: LiveMark | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Returns `undefined` if publishing is allowed. */
export function denialOfPublish(asked: AskedPublish): PublishDenial | undefined {
  const { site, app, stream, clientAddress, now } = asked;
  if (!isAppName(app) || !isStreamName(stream)) return 'name';
  if (site === undefined || site.type !== 'live') return 'domain';
  if (site.state !== 'open') return 'closed';
  if (site.access.deniedAddresses?.denies(clientAddress) === true) return 'ip';
  if (asked.pushAuth === 'off' && !PRIVATE.has(unmapAddress(clientAddress))) return 'address';
  if (asked.pushAuth === 'required') {
    const path = `/${app}/${stream}`;
    const check = checkAuthKey({ value: asked.authKey, path, keys: asked.keys?.publish ?? [], now });
    if (check.kind === 'refused') return `key ${check.reason}`;
  }
  return isForbidden(asked.mark, now) ? 'forbidden' : undefined;
}

/** Loopback, private and link-local networks. RFC 1918, RFC 3927, RFC 4193, RFC 4291 */
const PRIVATE = createAddressSet([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1',
  'fc00::/7',
  'fe80::/10',
]);
