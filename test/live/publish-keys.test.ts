/** Publishing with `live-push-auth` = `required`: keys that are forged, of somebody else, encoded otherwise, or taken away while on air. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeAuthKey } from '#sites/live-key.ts';
import { eventually } from '../support/eventually.ts';
import { OTHER_HOST, startLiveWorld } from '../support/live/live-world.ts';
import { sampleMessages } from '../support/live/rtmp-client.ts';

const PRIMARY = 'primaryprimary16';
const SECONDARY = 'secondarysecond16';
const OTHER = 'ofanotherdomain16';
const MINUTE_MS = 60_000;

interface Signed {
  readonly path: string;
  readonly key?: string;
  readonly inMs?: number;
}

const sign = ({ path, key = PRIMARY, inMs = MINUTE_MS }: Signed) =>
  makeAuthKey({ path, key, expiresAt: Date.now() + inMs, random: 'r1' });

interface Row {
  readonly what: string;
  /** What stands behind the stream's name; absent: its name alone. */
  readonly query?: (stream: string) => string;
  /** Instead of the stream's name and a query. */
  readonly name?: (stream: string) => string;
  readonly app?: (stream: string) => string;
  readonly isAllowed: boolean;
  /** What a refused publisher is told; absent: nothing that helps to guess a key. */
  readonly description?: string;
}

const REFUSED = 'publishing is refused';

const key = (signed: (stream: string) => Signed) => (stream: string) => `auth_key=${sign(signed(stream))}`;
const own = key((stream) => ({ path: `/live/${stream}` }));
const forged = (stream: string) => own(stream).replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));

const ROWS: readonly Row[] = [
  { what: 'the primary key', query: own, isAllowed: true },
  { what: 'the secondary key', query: key((name) => ({ path: `/live/${name}`, key: SECONDARY })), isAllowed: true },
  { what: 'no key', isAllowed: false },
  { what: 'an empty key', query: () => 'auth_key=', isAllowed: false },
  { what: 'an MD5 with one digit changed', query: forged, isAllowed: false },
  { what: 'a later expiry than was signed', query: (name) => own(name).replace('=', '=9'), isAllowed: false },
  {
    what: 'one that has expired',
    query: key((name) => ({ path: `/live/${name}`, inMs: -1_000 })),
    isAllowed: false,
    description: 'the address has expired',
  },
  { what: 'one of another stream', query: key((name) => ({ path: `/live/${name}b` })), isAllowed: false },
  {
    what: 'one of the name in another case',
    query: key((name) => ({ path: `/live/${name.toUpperCase()}` })),
    isAllowed: false,
  },
  { what: 'one of another app', query: key((name) => ({ path: `/live2/${name}` })), isAllowed: false },
  { what: 'one of the address for HTTP-FLV', query: key((name) => ({ path: `/live/${name}.flv` })), isAllowed: false },
  { what: 'one of another domain', query: key((name) => ({ path: `/live/${name}`, key: OTHER })), isAllowed: false },
  {
    what: 'one of its own domain for another one',
    query: (name) => `${own(name)}&vhost=${OTHER_HOST}`,
    isAllowed: false,
  },
  {
    what: 'one of the domain that the query names',
    query: (name) => `${key(() => ({ path: `/live/${name}`, key: OTHER }))(name)}&vhost=${OTHER_HOST}`,
    isAllowed: true,
  },
  { what: 'a parameter in upper case', query: (name) => own(name).replace('auth_key', 'AUTH_KEY'), isAllowed: false },
  { what: 'hyphens that are percent-encoded', query: (name) => own(name).replaceAll('-', '%2D'), isAllowed: true },
  {
    what: 'an MD5 in upper case',
    query: (name) => own(name).replace(/[0-9a-f]{32}$/, (hex) => hex.toUpperCase()),
    isAllowed: true,
  },
  { what: 'a key and more behind it', query: (name) => `${own(name)}%0A`, isAllowed: false },
  { what: 'two keys, the first one good', query: (name) => `${own(name)}&${forged(name)}`, isAllowed: true },
  { what: 'two keys, the first one forged', query: (name) => `${forged(name)}&${own(name)}`, isAllowed: false },
  { what: 'a key behind the app', app: (name) => `live?${own(name)}`, isAllowed: true },
  { what: 'a forged key behind the app', app: (name) => `live?${forged(name)}`, isAllowed: false },
  {
    what: 'a forged key behind the name, a good one behind the app',
    query: forged,
    app: (name) => `live?${own(name)}`,
    isAllowed: false,
  },
  { what: 'a name that is percent-encoded', name: (name) => `%73${name.slice(1)}?${own(name)}`, isAllowed: false },
  { what: 'a name with a slash before it', name: (name) => `/${name}?${own(name)}`, isAllowed: true },
];

test('only a key of the domain, for this stream and not expired, lets a publisher in', async (t) => {
  const world = await startLiveWorld(t, { pushAuth: 'required' });
  world.setKeys({ publish: [PRIMARY, SECONDARY], play: [] });
  world.setKeys({ publish: [OTHER], play: [] }, 8);
  for (const [
    index,
    { what, query, name, app = () => 'live', isAllowed, description: expected = REFUSED },
  ] of ROWS.entries()) {
    const stream = `s${index}`;
    const client = await world.publisher({ app: app(stream) });
    const asked = name?.(stream) ?? (query === undefined ? stream : `${stream}?${query(stream)}`);
    const { code, description } = await client.publish(asked);
    assert.equal(code, `NetStream.Publish.${isAllowed ? 'Start' : 'Denied'}`, what);
    if (!isAllowed) assert.equal(description, expected, `${what}: a stranger learns no reason`);
  }
  await eventually(
    'all who were refused are in the log',
    () => world.lines.length >= ROWS.filter((row) => !row.isAllowed).length,
  );
  for (const { target = '' } of world.lines) assert.doesNotMatch(target, /auth_key=(?!\*\*\*)/i);
});

describe('dropping keys', () => {
  const signed = (used: string) => `a?auth_key=${sign({ path: '/live/a', key: used })}`;

  test('a dropped key admits no new publisher; the publisher on air continues until it ends or is kicked', async (t) => {
    const world = await startLiveWorld(t, { pushAuth: 'required' });
    world.setKeys({ publish: [PRIMARY, SECONDARY], play: [] });
    const publisher = await world.publisher();
    assert.equal((await publisher.publish(signed(SECONDARY))).code, 'NetStream.Publish.Start');
    for (const message of sampleMessages(10)) publisher.send(message);
    await eventually('control knows it', () => world.events.length === 1);

    world.setKeys({ publish: [PRIMARY], play: [] });
    const late = await world.publisher();
    assert.equal((await late.publish(signed(SECONDARY))).code, 'NetStream.Publish.Denied');
    assert.deepEqual([publisher.hasEnded, world.states.get('a')], [false, 'live']);

    world.setMark('a', { forbidden: false, until: 0, kicked: world.events[0]?.broadcast ?? '' });
    await publisher.ended();
    assert.equal((await (await world.publisher()).publish(signed(SECONDARY))).code, 'NetStream.Publish.Denied');
    assert.equal((await (await world.publisher()).publish(signed(PRIMARY))).code, 'NetStream.Publish.Start');
  });

  test('a domain without keys admits no publisher', async (t) => {
    const world = await startLiveWorld(t, { pushAuth: 'required' });
    world.setKeys({ publish: [PRIMARY], play: [] });
    world.setKeys({ publish: [], play: [] });
    assert.equal((await (await world.publisher()).publish(signed(PRIMARY))).code, 'NetStream.Publish.Denied');
    assert.equal((await (await world.publisher()).publish('a')).code, 'NetStream.Publish.Denied');
  });
});
