/** Decides whether an edge accepts a change: what it cannot compile is refused without holding up the rest. */
import { plainNetwork } from '#lib/cidr.ts';
import { isCount } from '#lib/is-count.ts';
import { ADDRESS_LIST_KIND, type AddressListBody } from '#model/address-list.ts';
import { whyNoPair } from '#model/certificate.ts';
import { CHALLENGE_KIND, type ChallengeBody, isChallengeToken } from '#model/challenge.ts';
import { GROUP_NAME } from '#model/edge-group.ts';
import { EDGE_KIND, type EdgeOrders } from '#model/edge-orders.ts';
import { PLACE_KIND } from '#model/edge-place.ts';
import { type EdgeTier, MAX_TIER_SERIALS, TIER_ADDRESS, TIER_KIND } from '#model/edge-tier.ts';
import { FLEET_ID } from '#model/fleet.ts';
import { LIVE_KEY, MAX_LISTED_ADDRESSES } from '#model/limits.ts';
import { isLineSink, SINK_KIND, SINK_NAME } from '#model/line-sink.ts';
import { LIVE_KEYS_KIND, LIVE_MARK_KIND } from '#model/live-stream.ts';
import { SERVING_KIND } from '#model/serving-groups.ts';
import { compileSite } from '#sites/compile.ts';
import { isBroadcastId, type LiveKeys, type LiveMark, MAX_LIVE_KEYS, parseStreamKey } from '#sites/live.ts';
import type { PrefetchSpec } from '#sites/prefetch.ts';
import { type PurgeSpec, purgeKey } from '#sites/purge.ts';
import type { CertificatePair } from '#sites/table.ts';
import type { StoreChange } from '../store/edge-file.ts';
import {
  CONTROLS_KEY,
  FLEET_KIND,
  type FleetControls,
  type FleetId,
  ID_KEY,
  MAX_REJECTION_ERROR_CHARS,
  type ResourceChange,
  type UnopenedSecret,
} from '../wire/protocol.ts';
import { whyNoPlace, whyNoServing } from './accept-routing.ts';
import { isControlAddress, MAX_CONTROLS } from './control-link.ts';

type Put = Extract<ResourceChange, { readonly op: 'put' }>;

export function acceptChange(change: ResourceChange): StoreChange {
  if (change.op === 'put') return acceptPut(change);
  return { kind: 'delete', resource: change.kind, key: change.key, revision: change.revision };
}

/** Accepts or rejects a resource. One of an unknown kind is stored unchanged, for the release that knows it. */
export function acceptPut({ kind, key, revision, body }: Put): Exclude<StoreChange, { readonly kind: 'delete' }> {
  const error = whyRefused(kind, key, body, revision);
  if (error !== undefined) {
    return { kind: 'reject', resource: kind, key, revision, error: error.slice(0, MAX_REJECTION_ERROR_CHARS) };
  }
  return { kind: 'put', resource: kind, key, revision, body: JSON.stringify(body) };
}

function whyRefused(kind: string, key: string, body: unknown, revision: number): string | undefined {
  switch (kind) {
    case 'site':
      return whyNoSite(key, body, revision);
    case 'purge':
      return whyNoPurge(key, body);
    case 'prefetch':
      return whyNoPrefetch(body);
    case 'certificate':
      return whyNoCertificate(body);
    case EDGE_KIND:
      return whyNoOrders(body);
    case PLACE_KIND:
      return whyNoPlace(body);
    case SERVING_KIND:
      return whyNoServing(body);
    case CHALLENGE_KIND:
      return whyNoChallenge(key, body);
    case ADDRESS_LIST_KIND:
      return whyNoAddressList(body);
    case LIVE_MARK_KIND:
      return whyNoLiveMark(key, body);
    case LIVE_KEYS_KIND:
      return whyNoLiveKeys(key, body);
    case SINK_KIND:
      return whyNoSink(key, body);
    case TIER_KIND:
      return whyNoTier(body);
    case FLEET_KIND:
      return whyNoFleet(key, body);
    default:
      return undefined;
  }
}

function whyNoTier(body: unknown): string | undefined {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { group, parent, address, serials } = Object(body) as Record<keyof EdgeTier, unknown>;
  if (![group, parent ?? group].every((name) => typeof name === 'string' && GROUP_NAME.test(name)))
    return 'group, parent: expected names of groups';
  if (address !== undefined && !(typeof address === 'string' && TIER_ADDRESS.test(address)))
    return 'address: expected host:port';
  const isList = Array.isArray(serials) && serials.length <= MAX_TIER_SERIALS;
  const isGood = isList && serials.every((each: unknown) => typeof each === 'string' && /^[\da-f]{1,64}$/.test(each));
  return isGood ? undefined : `serials: expected at most ${MAX_TIER_SERIALS} numbers in hex`;
}

function whyNoFleet(key: string, body: unknown): string | undefined {
  if (key === CONTROLS_KEY) return whyNoControls(body);
  return key === ID_KEY ? whyNoFleetId(body) : undefined;
}

function whyNoFleetId(body: unknown): string | undefined {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { id } = Object(body) as Record<keyof FleetId, unknown>;
  return typeof id === 'string' && FLEET_ID.test(id) ? undefined : 'id: expected 8 hex digits';
}

function whyNoControls(body: unknown): string | undefined {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { controls } = Object(body) as Record<keyof FleetControls, unknown>;
  const isList = Array.isArray(controls) && controls.length <= MAX_CONTROLS;
  const isGood = isList && controls.every((each: unknown) => typeof each === 'string' && isControlAddress(each));
  return isGood ? undefined : `controls: expected at most ${MAX_CONTROLS} addresses like https://host:port`;
}

function whyNoSite(key: string, body: unknown, revision: number): string | undefined {
  const result = compileSite(body, revision);
  if (result.kind === 'invalid') return result.problem;
  return result.site.name === key ? undefined : `its name is not its key ${key}`;
}

function whyNoPurge(key: string, body: unknown): string | undefined {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { siteId, site, kind, target } = Object(body) as Record<keyof PurgeSpec, unknown>;
  if (typeof siteId !== 'number' || !key.startsWith(purgeKey(siteId, ''))) return `siteId: not that of its key ${key}`;
  if (typeof site !== 'string') return 'site: expected a name';
  if (kind !== 'url' && kind !== 'directory' && kind !== 'site') return 'kind: expected url, directory or site';
  return typeof target === 'string' ? undefined : 'target: expected a text';
}

function whyNoPrefetch(body: unknown): string | undefined {
  // `as`: see above.
  const { taskId, n, host, target, scheme } = Object(body) as Record<keyof PrefetchSpec, unknown>;
  if (typeof taskId !== 'number' || typeof n !== 'number') return 'taskId, n: expected numbers';
  if (scheme !== 'http' && scheme !== 'https') return 'scheme: expected http or https';
  return typeof host === 'string' && typeof target === 'string' ? undefined : 'host, target: expected texts';
}

function whyNoOrders(body: unknown): string | undefined {
  // `as`: see above.
  const { isDraining } = Object(body) as Record<keyof EdgeOrders, unknown>;
  return typeof isDraining === 'boolean' ? undefined : 'isDraining: expected true or false';
}

function whyNoChallenge(key: string, body: unknown): string | undefined {
  // `as`: see above.
  const { keyAuthorization } = Object(body) as Record<keyof ChallengeBody, unknown>;
  if (!isChallengeToken(key.slice(key.indexOf('/') + 1))) return 'its key: expected host/token';
  const isText = typeof keyAuthorization === 'string' && KEY_AUTHORIZATION.test(keyAuthorization);
  return isText ? undefined : 'keyAuthorization: expected a token, a dot and a hash';
}

/** Form of a key authorization, which no browser can take for a page. */
const KEY_AUTHORIZATION = /^[\w-]{1,128}\.[\w-]{1,128}$/;

/** Returns why the certificate is invalid; the text has nothing of its content. */
function whyNoCertificate(body: unknown): string | undefined {
  // `as`: see above.
  const { certificate, key, problem } = Object(body) as Record<keyof (CertificatePair & UnopenedSecret), unknown>;
  if (typeof problem === 'string') return problem;
  if (typeof certificate !== 'string' || typeof key !== 'string') return 'certificate, key: expected texts';
  return whyNoPair(certificate, key);
}

function whyNoAddressList(body: unknown): string | undefined {
  // `as`: see above.
  const { entries } = Object(body) as Record<keyof AddressListBody, unknown>;
  const isList = Array.isArray(entries) && entries.length <= MAX_LISTED_ADDRESSES;
  const isGood = isList && entries.every((each: unknown) => typeof each === 'string' && plainNetwork(each) === each);
  return isGood ? undefined : `entries: expected at most ${MAX_LISTED_ADDRESSES} addresses and networks`;
}

function whyNoLiveMark(key: string, body: unknown): string | undefined {
  // `as`: see above.
  const { forbidden, until, kicked } = Object(body) as Record<keyof LiveMark, unknown>;
  if (parseStreamKey(key) === undefined) return 'its key: expected domain id/app/stream';
  if (typeof forbidden !== 'boolean') return 'forbidden: expected true or false';
  if (!isCount(until)) return 'until: expected an integer from 0';
  const isKnown = typeof kicked === 'string' && (kicked === '' || isBroadcastId(kicked));
  return isKnown ? undefined : 'kicked: expected the id of a broadcast, or an empty text';
}

/** Returns why live keys are invalid; the text has nothing of them. */
function whyNoLiveKeys(key: string, body: unknown): string | undefined {
  // `as`: see above.
  const { publish, play, urls = [], problem } = Object(body) as Record<keyof (LiveKeys & UnopenedSecret), unknown>;
  if (typeof problem === 'string') return problem;
  if (!/^[1-9]\d{0,9}$/.test(key)) return 'its key: expected a domain id';
  if (![publish, play, urls].every(isKeyList))
    return `publish, play, urls: expected at most ${MAX_LIVE_KEYS} keys each`;
  return undefined;
}

function isKeyList(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > MAX_LIVE_KEYS) return false;
  return value.every((key: unknown) => typeof key === 'string' && LIVE_KEY.test(key));
}

/** Returns why a sink is invalid; the text has nothing of it. */
function whyNoSink(key: string, body: unknown): string | undefined {
  // `as`: see above.
  const { problem } = Object(body) as Record<keyof UnopenedSecret, unknown>;
  if (typeof problem === 'string') return problem;
  if (!SINK_NAME.test(key)) return 'its key: expected the name of a sink';
  return isLineSink(body) ? undefined : 'expected a sink with a URL, header fields, fields and limits';
}
