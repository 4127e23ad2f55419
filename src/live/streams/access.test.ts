import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeAuthKey } from '#sites/live-key.ts';
import { PackedAddresses } from '#sites/packed-addresses.ts';
import { denialOfPlay } from './play-access.ts';
import { type AskedPublish, denialOfPublish } from './publish-access.ts';

const NOW = 1_800_000_000_000;
const KEY = 'publishpublish16';
const PLAY_KEY = 'playplayplayplay';
const site = { type: 'live' as const, state: 'open' as const, access: {} };
const keyOf = (key: string, path = '/live/a', expiresAt = NOW + 60_000) =>
  makeAuthKey({ path, key, expiresAt, random: '0' });

const BASE: AskedPublish = {
  site,
  app: 'live',
  stream: 'a',
  clientAddress: '10.1.2.3',
  authKey: undefined,
  pushAuth: 'off',
  keys: { publish: [KEY], play: [PLAY_KEY] },
  mark: undefined,
  now: NOW,
};
const REQUIRED = { pushAuth: 'required', clientAddress: '203.0.113.9' } as const;
const denied = { ...site, access: { deniedAddresses: new PackedAddresses(['10.0.0.0/8']) } };

const PUBLISH_ROWS: readonly (readonly [name: string, asked: Partial<AskedPublish>, denial: string | undefined])[] = [
  ['from a private network', {}, undefined],
  ['from loopback', { clientAddress: '127.0.0.1' }, undefined],
  ['from IPv6 loopback', { clientAddress: '::1' }, undefined],
  ['from a mapped private address', { clientAddress: '::ffff:192.168.1.2' }, undefined],
  ['from a local IPv6 network', { clientAddress: 'fd00::1' }, undefined],
  ['from the internet without keys', { clientAddress: '203.0.113.9' }, 'address'],
  ['from the IPv6 internet', { clientAddress: '2a00::1' }, 'address'],
  ['from a mapped public address', { clientAddress: '::ffff:203.0.113.9' }, 'address'],
  ['to a host that is none of ours', { site: undefined }, 'domain'],
  ['to a domain of another type', { site: { ...site, type: 'video' } }, 'domain'],
  ['to a domain that is not open', { site: { ...site, state: 'disabled' as never } }, 'closed'],
  ['from an address that the domain refuses', { site: denied }, 'ip'],
  ['a stream with a slash', { stream: 'a/b' }, 'name'],
  ['a stream with a dot first', { stream: '.a' }, 'name'],
  ['a stream without name', { stream: '' }, 'name'],
  ['an app of 65 characters', { app: 'a'.repeat(65) }, 'name'],
  ['a stream of 129 characters', { stream: 'a'.repeat(129) }, 'name'],
  ['a stream of 128 characters', { stream: 'a'.repeat(128) }, undefined],
  ['a paused stream', { mark: { forbidden: true, until: 0, kicked: '' } }, 'forbidden'],
  ['a stream paused until later', { mark: { forbidden: true, until: NOW + 1, kicked: '' } }, 'forbidden'],
  ['a stream whose pause is over', { mark: { forbidden: true, until: NOW, kicked: '' } }, undefined],
  ['with a key', { ...REQUIRED, authKey: keyOf(KEY) }, undefined],
  ['without a key', REQUIRED, 'key missing'],
  ['without a key from loopback', { ...REQUIRED, clientAddress: '127.0.0.1' }, 'key missing'],
  ['with the key for playing', { ...REQUIRED, authKey: keyOf(PLAY_KEY) }, 'key wrong'],
  ['with the key of another stream', { ...REQUIRED, authKey: keyOf(KEY, '/live/b') }, 'key wrong'],
  ['with a key that has expired', { ...REQUIRED, authKey: keyOf(KEY, '/live/a', NOW) }, 'key expired'],
  ['with a key where the domain has none', { ...REQUIRED, keys: undefined, authKey: keyOf(KEY) }, 'key wrong'],
];

describe('publishing', () => {
  for (const [name, asked, denial] of PUBLISH_ROWS)
    test(name, () => assert.equal(denialOfPublish({ ...BASE, ...asked }), denial));
});

const PLAY_ROWS: readonly (readonly [name: string, asked: Partial<AskedPublish>, denial: string | undefined])[] = [
  ['from anywhere with the key', { clientAddress: '203.0.113.9', authKey: keyOf(PLAY_KEY) }, undefined],
  ['without a key that the domain asks for', {}, 'key missing'],
  ['with the key for publishing', { authKey: keyOf(KEY) }, 'key wrong'],
  ['from anywhere where the domain asks for no key', { clientAddress: '203.0.113.9', keys: undefined }, undefined],
  ['from an address that the domain refuses', { site: denied, keys: undefined }, 'ip'],
  ['of a domain that is not open', { site: { ...site, state: 'disabled' as never }, keys: undefined }, 'closed'],
  ['of another type', { site: { ...site, type: 'video' }, keys: undefined }, 'domain'],
  ['of a paused stream', { keys: undefined, mark: { forbidden: true, until: 0, kicked: '' } }, 'forbidden'],
  ['of a name out of the grammar', { keys: undefined, stream: 'a b' }, 'name'],
];

describe('playing by RTMP', () => {
  for (const [name, asked, denial] of PLAY_ROWS)
    test(name, () => assert.equal(denialOfPlay({ ...BASE, ...asked }), denial));
});
