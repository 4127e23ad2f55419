/** Whether a name points here, as Knot answers for it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkName } from '#api/checks/name-check.ts';
import { startKnot } from '../support/api/knot.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/runner/needs.ts';

const ALIASES = ['www.example.com A 198.51.100.7', 'www.example.com AAAA 2001:db8::7', 'apex A 198.51.100.7'];
const NAMES = [
  'www CNAME www.example.com.cdn.test.',
  'long CNAME step',
  'step CNAME www.example.com.cdn.test.',
  'circle CNAME round',
  'round CNAME circle',
  'same A 198.51.100.7',
  'same AAAA 2001:db8::7',
  'partly A 198.51.100.7',
  'partly A 192.0.2.9',
  'elsewhere A 192.0.2.9',
  'other CNAME other.cdn.invalid.',
  'text TXT "no address"',
  '*.wild CNAME www.example.com.cdn.test.',
];

test(
  'a name points here by its CNAMEs or by its addresses, and name servers that differ are told',
  needs('knot'),
  async (t) => {
    const server = await startKnot(t, { 'example.com': NAMES, 'cdn.test': ALIASES });
    const alias = 'www.example.com.cdn.test';
    const check = async (name: string) => {
      const { state, found, resolvers } = await checkName(`${name}.example.com`, alias, [server]);
      assert.deepEqual(resolvers, [{ resolver: server, state }]);
      return [state, found];
    };
    const addresses = ['198.51.100.7', '2001:db8::7'];
    const rows: readonly (readonly [string, string, readonly string[]])[] = [
      ['www', 'here', [alias, ...addresses]],
      ['long', 'here', ['step.example.com', alias, ...addresses]],
      ['circle', 'elsewhere', ['round.example.com', 'circle.example.com']],
      ['same', 'here', addresses],
      ['partly', 'elsewhere', ['192.0.2.9', '198.51.100.7']],
      ['elsewhere', 'elsewhere', ['192.0.2.9']],
      ['text', 'missing', []],
      ['nothing', 'missing', []],
      ['causeway-check.wild', 'here', [alias, ...addresses]],
    ];
    for (const [name, state, found] of rows) assert.deepEqual(await check(name), [state, found], name);

    const later = await startKnot(t, { 'example.com': ['www A 192.0.2.9'], 'cdn.test': ALIASES });
    const dead = `127.0.0.1:${await freePort()}`;
    const mixed = await checkName('www.example.com', alias, [server, later, dead]);
    assert.deepEqual(
      [mixed.state, mixed.resolvers.map(({ state }) => state)],
      ['mixed', ['here', 'elsewhere', 'unknown']],
    );
    // A server that is away says nothing: the others decide.
    assert.equal((await checkName('www.example.com', alias, [dead, server])).state, 'here');
    assert.deepEqual(await checkName('www.example.com', alias, [dead]), {
      state: 'unknown',
      found: [],
      resolvers: [{ resolver: dead, state: 'unknown' }],
    });
  },
);
