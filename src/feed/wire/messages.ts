/** Parses the protocol's messages. A malformed one is refused with the name of the member. */
import { plainAddress } from '#lib/cidr.ts';
import { isInstant, LATEST_MS } from '#lib/instant.ts';
import { isCount } from '#lib/is-count.ts';
import type { EdgeLoad, EdgeStatus, EdgeVitals, OriginTrouble, Rejection } from '#model/edge.ts';
import { type CheckResult, HEALTH_CHECKS, MAX_CHECK_DETAIL_CHARS } from '#model/edge-health.ts';
import { type EdgePlace, isCoordinates, MAX_EDGE_ADDRESSES, MAX_EDGE_WEIGHT } from '#model/edge-place.ts';
import { OWN_STATES } from '#model/edge-state.ts';
import { TIER_ADDRESS } from '#model/edge-tier.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import { MAX_SINKS, type SinkTrouble } from '#model/line-sink.ts';
import {
  type Delta,
  MAX_FAILURE_CHARS,
  MAX_ORIGIN_KEY_CHARS,
  MAX_ORIGIN_TROUBLES,
  MAX_PREFETCH_RESULTS,
  MAX_REJECTION_ERROR_CHARS,
  MAX_REJECTIONS,
  MAX_SPREAD_MS,
  type PrefetchReport,
  type PrefetchReportResult,
  type ResourceChange,
  type SnapshotHead,
} from './protocol.ts';

export class MessageError extends Error {}

/** Thrown if a message names another edge than the certificate of its sender. */
export class ForeignEdgeError extends Error {}

const MAX_KIND_CHARS = 64;
const MAX_KEY_CHARS = 1024;
const MAX_ID_CHARS = 64;
export const MAX_BUILD_CHARS = 200;
const MAX_FEATURES = 64;
const MAX_FEATURE_CHARS = 64;
const MAX_CHECKS = 64;
const MAX_TIER_ADDRESS_CHARS = 260;
const MAX_PORT = 65_535;
/** Largest number that columns of 32 bits hold. */
export const MAX_INT = 2 ** 31 - 1;

export type Members = Readonly<Record<string, unknown>>;

/** Parses a delta. This and the next four throw `MessageError`. */
export function parseDelta(text: string): Delta {
  const members = readMembers('delta', parseJson(text));
  const delta = {
    from: readCount('from', members['from']),
    to: readCount('to', members['to']),
    tag: readBoundedText('tag', members['tag'], MAX_ID_CHARS),
    ...readView(members['view']),
    changes: readItems('changes', members['changes']).map(readChange),
  };
  if (delta.to <= delta.from) throw new MessageError('to: expected more than from');
  return delta;
}

/** Returns the time over which edges spread, as `goaway` and heartbeats announce it, in milliseconds. */
export function parseSpread(text: string): number {
  const spreadMs = readCount('spreadMs', readMembers('spread', parseJson(text))['spreadMs']);
  if (spreadMs > MAX_SPREAD_MS) throw new MessageError(`spreadMs: expected at most ${MAX_SPREAD_MS}`);
  return spreadMs;
}

export function parseSnapshotHead(text: string): SnapshotHead {
  const members = readMembers('head', parseJson(text));
  return {
    ...readPlace(members),
    ...readView(members['view']),
    continues: readFlag('continues', members['continues']),
    count: readCount('count', members['count']),
    hash: readBoundedText('hash', members['hash'], MAX_ID_CHARS),
  };
}

export function parseChange(text: string): ResourceChange {
  return readChange(parseJson(text));
}

export function parseStatus(text: string): EdgeStatus {
  const members = readMembers('status', parseJson(text));
  const edge = readEdge(members['edge']);
  const at = readPlace(readMembers('at', members['at']));
  const appliedRevision = readCount('appliedRevision', members['appliedRevision']);
  if (appliedRevision > at.revision) throw new MessageError('appliedRevision: expected at most that of at');
  return {
    edge,
    at,
    appliedRevision,
    rejected: readItems('rejected', members['rejected'], MAX_REJECTIONS).map(readRejection),
    build: readBoundedText('build', members['build'], MAX_BUILD_CHARS),
    startedAt: readInstant('startedAt', members['startedAt']),
    origins: readOrigins(members['origins'] ?? []), // an edge of an earlier release has none
    ...(members['state'] !== undefined && { vitals: readVitals(members) }), // nor these
  };
}

export function parsePrefetchReport(text: string): PrefetchReport {
  const members = readMembers('report', parseJson(text));
  return {
    edge: readEdge(members['edge']),
    at: readPlace(readMembers('at', members['at'])),
    results: readItems('results', members['results'], MAX_PREFETCH_RESULTS).map(readPrefetchResult),
  };
}

function readVitals(members: Members): EdgeVitals {
  const { clockOffsetMs, sinks, tierAddress, place } = members;
  const features = readItems('features', members['features'], MAX_FEATURES);
  const health = readItems('health', members['health'], MAX_CHECKS);
  return {
    state: readWord('state', members['state'], OWN_STATES),
    features: features.map((each) => readBoundedText('features', each, MAX_FEATURE_CHARS)),
    ...(clockOffsetMs !== undefined && { clockOffsetMs: readOffset(clockOffsetMs) }),
    load: readLoad(readMembers('load', members['load'])),
    health: health.flatMap(readCheck),
    ...(tierAddress !== undefined && { tierAddress: readTierAddress(tierAddress) }),
    ...(place !== undefined && { place: readEdgePlace(readMembers('place', place)) }),
    ...(sinks !== undefined && { sinks: readItems('sinks', sinks, MAX_SINKS).map(readSinkTrouble) }),
  };
}

function readSinkTrouble(value: unknown): SinkTrouble {
  const { sink, state, reason } = readMembers('sinks', value);
  return {
    sink: readBoundedText('sink', sink, MAX_ID_CHARS),
    state: readWord('state', state, ['failing', 'dropping']),
    reason: readBoundedText('reason', reason, MAX_ID_CHARS),
  };
}

function readTierAddress(value: unknown): string {
  const address = readBoundedText('tierAddress', value, MAX_TIER_ADDRESS_CHARS);
  if (!TIER_ADDRESS.test(address)) throw new MessageError('tierAddress: expected host:port');
  return address;
}

function readOffset(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > LATEST_MS)
    throw new MessageError(`clockOffsetMs: expected an integer from ${-LATEST_MS} to ${LATEST_MS}`);
  return value;
}

function readLoad(members: Members): EdgeLoad {
  const read = (name: keyof EdgeLoad) => readAmount(`load.${name}`, members[name]);
  return {
    cpu: read('cpu'),
    mbit: read('mbit'),
    requests: read('requests'),
    underWay: readCount('load.underWay', members['underWay'], MAX_INT),
    cacheDisk: read('cacheDisk'),
  };
}

/** Reads where an edge is. */
export function readEdgePlace({ addresses, port, coordinates, weight }: Members): EdgePlace {
  if (coordinates !== undefined && !isCoordinates(coordinates))
    throw new MessageError('coordinates: expected a latitude and a longitude');
  return {
    addresses: readItems('addresses', addresses, MAX_EDGE_ADDRESSES).map(readAddress),
    port: readCount('port', port, MAX_PORT),
    ...(coordinates !== undefined && {
      coordinates: { latitude: coordinates.latitude, longitude: coordinates.longitude },
    }),
    weight: readCount('weight', weight, MAX_EDGE_WEIGHT),
  };
}

function readAddress(value: unknown): string {
  if (typeof value === 'string' && plainAddress(value) === value) return value;
  throw new MessageError('addresses: expected IP addresses');
}

/** A check that this release does not know is left out. */
function readCheck(value: unknown): readonly CheckResult[] {
  const { check, ok, detail } = readMembers('health', value);
  const isOk = readFlag('ok', ok);
  const name = readBoundedText('check', check, MAX_KIND_CHARS);
  const known = HEALTH_CHECKS.find((each) => each === name);
  const text = detail === undefined ? undefined : readNote('detail', detail, MAX_CHECK_DETAIL_CHARS);
  return known === undefined ? [] : [{ check: known, ok: isOk, ...(text !== undefined && { detail: text }) }];
}

function readOrigins(value: unknown): readonly OriginTrouble[] {
  return readItems('origins', value, MAX_ORIGIN_TROUBLES).map((each) => {
    const { key, state } = readMembers('origin', each);
    return {
      key: readBoundedText('key', key, MAX_ORIGIN_KEY_CHARS),
      state: readWord('state', state, ['down', 'forbidden']),
    };
  });
}

function readPlace(members: Members): FeedPosition {
  return {
    epoch: readBoundedText('epoch', members['epoch'], MAX_ID_CHARS),
    revision: readCount('revision', members['revision']),
    tag: readBoundedText('tag', members['tag'], MAX_ID_CHARS),
  };
}

function readView(value: unknown): { readonly view?: string } {
  return value === undefined ? {} : { view: readBoundedText('view', value, MAX_ID_CHARS) };
}

function readPrefetchResult(value: unknown): PrefetchReportResult {
  const members = readMembers('result', value);
  const { failure } = members;
  return {
    taskId: readCount('taskId', members['taskId'], MAX_INT),
    n: readCount('n', members['n'], MAX_INT),
    ...(failure !== undefined && { failure: readNote('failure', failure, MAX_FAILURE_CHARS) }),
  };
}

export function readEdge(value: unknown): string {
  const edge = readBoundedText('edge', value, MAX_ID_CHARS);
  if (!/^[\w.-]+$/.test(edge)) throw new MessageError('edge: expected letters, digits, dots, hyphens');
  return edge;
}

/** Throws `ForeignEdgeError`. `sender`: id by the certificate; absent where the message alone names the edge. */
export function requireEdge(named: string, sender: string | undefined): void {
  if (sender !== undefined && named !== sender) throw new ForeignEdgeError('edge: expected the id of the certificate');
}

function readChange(value: unknown): ResourceChange {
  const members = readMembers('change', value);
  const { op, body } = members;
  const resource = readResource(members);
  if (op === 'delete') return { ...resource, op };
  if (op !== 'put') throw new MessageError('op: expected put or delete');
  if (body === undefined) throw new MessageError('body: missing');
  return { ...resource, op, body };
}

function readRejection(value: unknown): Rejection {
  const members = readMembers('rejection', value);
  return { ...readResource(members), error: readNote('error', members['error'], MAX_REJECTION_ERROR_CHARS) };
}

function readResource(members: Members) {
  return {
    kind: readBoundedText('kind', members['kind'], MAX_KIND_CHARS),
    key: readBoundedText('key', members['key'], MAX_KEY_CHARS),
    revision: readCount('revision', members['revision']),
  };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MessageError('not JSON', { cause: error });
  }
}

export function readMembers(member: string, value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MessageError(`${member}: expected an object`);
  }
  // `as`: an object's members are unknown values by their names.
  return value as Members;
}

/** Reads a text that is not empty, without NULs and unpaired surrogates, which databases cannot store. */
export function readBoundedText(member: string, value: unknown, maxChars: number): string {
  if (typeof value !== 'string' || value === '' || value.length > maxChars)
    throw new MessageError(`${member}: expected a text of 1 to ${maxChars} characters`);
  if (value.includes('\0') || !value.isWellFormed())
    throw new MessageError(`${member}: expected a text without NULs and unpaired surrogates`);
  return value;
}

/** Reads a text for people, which may quote anything: what databases cannot store is removed. */
function readNote(member: string, value: unknown, maxChars: number): string {
  return readBoundedText(
    member,
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value,
    maxChars,
  );
}

export function readCount(member: string, value: unknown, max = Number.MAX_SAFE_INTEGER): number {
  if (!isCount(value, max)) throw new MessageError(`${member}: expected an integer from 0 to ${max}`);
  return value;
}

export function readInstant(member: string, value: unknown): number {
  if (!isInstant(value)) throw new MessageError(`${member}: expected epoch milliseconds from 0 to ${LATEST_MS}`);
  return value;
}

export function readAmount(member: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new MessageError(`${member}: expected a number from 0`);
  return value;
}

export function readFlag(member: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new MessageError(`${member}: expected true or false`);
  return value;
}

export function readWord<const T extends string>(member: string, value: unknown, words: readonly T[]): T {
  const found = words.find((word) => word === value);
  if (found === undefined) throw new MessageError(`${member}: expected one of ${words.join(', ')}`);
  return found;
}

/** Reads a list of at most `max` elements; the bound of a message is enough for one without `max`. */
export function readItems(member: string, value: unknown, max = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (Array.isArray(value) && value.length <= max) return value;
  throw new MessageError(`${member}: expected a list${Number.isFinite(max) ? ` of at most ${max}` : ''}`);
}
