/** Admission of edges by a parent, and their connections when their place or certificate changes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatTier } from '../../src/edge/tier-fields.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, reply, startOrigin } from '../support/edge/origin.ts';
import { askOver, CDN_ID, createTestFleet } from '../support/edge/tiers.ts';
import { eventually } from '../support/eventually.ts';

describe('who may ask a parent', () => {
  const lines = (from: string, { hops = 1, loop = CDN_ID, site = 1 } = {}) => [
    'GET /a HTTP/1.1',
    `Host: ${SITE_HOST}`,
    `CDN-Loop: ${loop}`,
    `Causeway-Tier: ${formatTier({ from, hops, siteId: site, newerThanMs: undefined, scheme: 'http', client: '192.0.2.1' })}`,
  ];

  test('an edge of a group below it, by the serial number that the feed has, and nobody else', async (t) => {
    const origin = await startOrigin(t, reply('whole', FRESH));
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const port = parent.edge.tierPort ?? 0;
    const isRefused = async (keys?: Parameters<typeof fleet.connect>[1]) => {
      const answer = await fleet.connect(port, keys).then(
        (socket) => askOver(socket, lines('fra1')),
        () => '',
      );
      return answer === '';
    };
    const keys = fleet.issue('fra1');
    assert.equal(await isRefused(keys), true, 'unknown to the feed');
    assert.equal(await isRefused(), true, 'without a certificate');
    fleet.tiers.set('fra1', { group: 'eu', parent: 'other', serials: [keys.serial] });
    assert.equal(await isRefused(keys), true, 'below another group');
    fleet.tiers.set('fra1', { group: 'eu', parent: 'core', serials: ['00'] });
    assert.equal(await isRefused(keys), true, 'another serial number');
    fleet.tiers.set('fra1', { group: 'eu', parent: 'core', serials: [keys.serial] });
    const answer = await askOver(await fleet.connect(port, keys), lines('fra1'));
    assert.match(
      answer,
      /^HTTP\/1\.1 200 [\s\S]*\r\nCauseway-Fresh: fresh=(59|60)\d{3}, store=1, as=miss\r\n[\s\S]*whole/,
    );
    const open = await fleet.connect(port, keys);
    const closed = new Promise((resolve) => open.once('close', resolve));
    fleet.tiers.delete('fra1'); // revoked
    fleet.recheck();
    await closed;
    assert.equal(await isRefused(keys), true, 'revoked');
  });

  test('an edge that has renewed its certificate gets its answer whole, and then connects anew', async (t) => {
    const ends = new Map<string, () => void>();
    const origin = await startOrigin(t, ({ target }, response) => {
      response.writeHead(200, { ...FRESH, 'content-length': '10' });
      response.write('begun');
      ends.set(target, () => void response.end('ended'));
    });
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const port = parent.edge.tierPort ?? 0;
    const keys = fleet.issue('fra1');
    const known = { group: 'eu', parent: 'core', serials: [keys.serial] };
    fleet.tiers.set('fra1', known);
    const [idle, busy, cut] = [
      await fleet.connect(port, keys),
      await fleet.connect(port, keys),
      await fleet.connect(port, keys),
    ];
    const idleClosed = new Promise((resolve) => idle.once('close', resolve));
    const texts = [busy, cut].map((socket, n) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.on('close', () => resolve(text));
      socket.write(`${[`GET /${n} HTTP/1.1`, ...lines('fra1').slice(1)].join('\r\n')}\r\n\r\n`);
      return { promise, isBegun: () => text.endsWith('begun') };
    });
    await eventually('both answers have begun', () => texts.every(({ isBegun }) => isBegun()));
    fleet.tiers.set('fra1', { ...known, serials: [fleet.issue('fra1').serial] });
    fleet.recheck();
    await idleClosed;
    ends.get('/0')?.();
    assert.match((await texts[0]?.promise) ?? '', /\r\n\r\nbegunended$/);
    fleet.tiers.set('fra1', { ...known, parent: 'other' });
    fleet.recheck();
    assert.match((await texts[1]?.promise) ?? '', /\r\n\r\nbegun$/, 'it is no child any more');
  });

  test('an edge whose certificate cannot be used for now keeps the former one, and serves viewers without any', async (t) => {
    const origin = await startOrigin(t, reply('whole', FRESH));
    const fleet = createTestFleet(t, [origin.port]);
    fleet.keys.set('par1', undefined);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const port = parent.edge.tierPort ?? 0;
    assert.equal((await parent.get('/')).body, 'whole');
    const keys = fleet.issue('fra1');
    fleet.tiers.set('fra1', { group: 'eu', parent: 'core', serials: [keys.serial] });
    await assert.rejects(fleet.connect(port, keys));
    const presented = async () => {
      const socket = await fleet.connect(port, keys);
      return socket.getPeerX509Certificate()?.serialNumber.toLowerCase();
    };
    const [first, second] = [fleet.issue('par1'), fleet.issue('par1')];
    const rows = [
      ['readable', first, first],
      ['a certificate without its key, which is replaced next', { ...first, cert: second.cert }, first],
      ['unreadable', undefined, first],
      ['renewed', second, second],
    ] as const;
    for (const [what, present, { serial }] of rows) {
      fleet.keys.set('par1', present);
      fleet.recheck();
      assert.equal(await presented(), serial, what);
    }
  });

  test('settings that cannot be read cut nobody; they are looked at again with the next request', async (t) => {
    const origin = await startOrigin(t, reply('whole', FRESH));
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true });
    await parent.get('/a');
    const keys = fleet.issue('fra1');
    fleet.tiers.set('fra1', { group: 'eu', parent: 'core', serials: [keys.serial] });
    const socket = await fleet.connect(parent.edge.tierPort ?? 0, keys);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    const ask = () => socket.write(`${lines('fra1').join('\r\n')}\r\n\r\n`);
    const isAnswered = () => text.endsWith('whole');
    ask();
    await eventually('it is admitted', isAnswered);
    text = '';
    fleet.isLocked = true;
    fleet.tiers.delete('fra1');
    fleet.recheck();
    ask();
    await eventually('it is answered', isAnswered);
    fleet.isLocked = false;
    text = '';
    ask();
    await closed;
    assert.equal(text, '');
  });

  test('connections are looked at only if the place of an edge has changed', async (t) => {
    const fleet = createTestFleet(t, []);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const keys = fleet.issue('fra1');
    fleet.tiers.set('fra1', { group: 'eu', parent: 'core', serials: [keys.serial] });
    const socket = await fleet.connect(parent.edge.tierPort ?? 0, keys);
    socket.write(`${lines('fra1', { site: 2 }).join('\r\n')}\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve)); // it is admitted
    const looksOf = () => {
      const before = fleet.leavesRead;
      fleet.recheck();
      return fleet.leavesRead - before;
    };
    looksOf();
    assert.equal(looksOf(), 0);
    fleet.tiers.set('fra2', { group: 'eu', parent: 'core', serials: [] });
    assert.ok(looksOf() > 0);
  });

  test('malformed requests and loops are refused', async (t) => {
    const origin = await startOrigin(t, reply('whole', FRESH));
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const keys = fleet.issue('fra1');
    fleet.tiers.set('fra1', { group: 'eu', parent: 'core', serials: [keys.serial] });
    const twice = `${CDN_ID}, ${CDN_ID}`;
    const rows: readonly (readonly [what: string, lines: readonly string[], status: number])[] = [
      ['well', lines('fra1'), 200],
      ['a second hop', lines('fra1', { hops: 2, loop: twice }), 200],
      ['more passes than hops', lines('fra1', { loop: twice }), 508],
      ['without the field', lines('fra1').slice(0, 3), 400],
      ['the name of another edge', lines('fra2'), 400],
      ['another domain', lines('fra1', { site: 2 }), 409],
      ['another method', ['POST /a HTTP/1.1', ...lines('fra1').slice(1), 'Content-Length: 0'], 405],
    ];
    for (const [what, request, status] of rows) {
      const answer = await askOver(await fleet.connect(parent.edge.tierPort ?? 0, keys), request);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), what);
      assert.equal(/causeway-fresh/i.test(answer), status === 200, what);
    }
    assert.equal(origin.requests.length, 1);
  });

  test('a request over two tiers is answered, and the field of a viewer counts for nothing', async (t) => {
    const origin = await startOrigin(t, reply('whole', FRESH));
    const fleet = createTestFleet(t, [origin.port]);
    await fleet.start('shield', 'shield', { listens: true });
    await fleet.start('par1', 'core', { listens: true, parent: 'shield' });
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    const headers = [
      'Causeway-Tier',
      formatTier({ from: 'x', hops: 2, siteId: 9, newerThanMs: 1, scheme: 'http', client: '::1' }),
    ];
    const answer = await child.get('/', { headers });
    assert.equal(answer.body, 'whole');
    assert.equal(
      answer.headers['cache-status'],
      'causeway-parent; fwd=miss; stored, causeway-parent; fwd=miss; stored, causeway; fwd=miss; stored',
    );
    assert.equal(origin.requests[0]?.headers['cdn-loop'], `${CDN_ID}, ${CDN_ID}, ${CDN_ID}`);
  });
});
