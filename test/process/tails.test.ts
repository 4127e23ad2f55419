/** Following a log: filters, limits, its end, several services, and readers that do not read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readTextLines } from '#cli/command/read-text-lines.ts';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { newPostgres } from '../support/db/databases.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { type Answer, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand, spawnCommand, startService } from '../support/process/service.ts';
import { addDomain, startWithDomain } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const STATUSES: Answer = ({ target }, response) => {
  response.writeHead(target.startsWith('/missing') ? 404 : 200, { 'cache-control': 'max-age=60' }).end('x');
};

type Item = Readonly<Record<string, unknown>>;

interface Followed {
  /** What has come so far. */
  readonly items: Item[];
  /** True if the end was orderly for HTTP. */
  readonly ended: Promise<boolean>;
}

async function open(client: Client, request: Parameters<typeof client.call<'log.tail'>>[1]): Promise<Response> {
  return await fetch((await client.call('log.tail', request)).url);
}

async function follow(client: Client, request: Parameters<typeof client.call<'log.tail'>>[1]): Promise<Followed> {
  const response = await open(client, request);
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
  const items: Item[] = [];
  const read = async () => {
    assert.ok(response.body !== null);
    for await (const line of readTextLines(response.body)) if (line !== '') items.push(JSON.parse(line));
  };
  return {
    items,
    ended: read().then(
      () => true,
      () => false,
    ),
  };
}

const targets = ({ items }: Followed) => items.flatMap(({ target }) => (target === undefined ? [] : [target]));

test('lines that match a filter come at once, with those of no other domain, and the stream says why it ends', async (t) => {
  const origin = await startOrigin(t, STATUSES);
  const { service, client, domain_id, edgePort } = await startWithDomain(t, origin.port);
  await addDomain(service, origin.port, { domain: 'other.example.com' });
  const missing = await follow(client, { domain_id, filter: 'status=404 path=/missing/*.jpg,/missing-too' });
  const all = await follow(client, { domain_id });
  const third = await open(client, { domain_id });
  assert.deepEqual([third.status, third.headers.get('x-error-code')], [429, 'tailsFull']);
  await third.body?.cancel();
  let n = 0;
  await eventually('it has begun', async () => {
    await fetchFrom(edgePort, `/begin?${n++}`);
    return all.items.length > 1;
  });
  await fetchFrom(edgePort, '/other', { host: 'other.example.com' });
  await fetchFrom(edgePort, '/a');
  await fetchFrom(edgePort, '/a'); // a ready answer
  await fetchFrom(edgePort, '/missing/a.png');
  await fetchFrom(edgePort, '/missing/a.jpg?size=1');
  await fetchFrom(edgePort, '/missing-too/b');
  await eventually('the last line is there', () => targets(missing).length === 2);
  await eventually('all lines are there', () => targets(all).includes('/missing-too/b'));
  assert.deepEqual(targets(missing), ['/missing/a.jpg?size=1', '/missing-too/b']);
  assert.deepEqual(
    targets(all).filter((target) => !String(target).startsWith('/begin')),
    ['/a', '/a', '/missing/a.png', '/missing/a.jpg?size=1', '/missing-too/b'],
  );
  const hit = all.items.filter(({ target }) => target === '/a')[1];
  const { time, duration_ms, request_bytes, response_bytes, ...rest } = hit ?? {};
  assert.match(String(time), /^\d{4}-\d\d-\d\dT/);
  assert.ok(Number(duration_ms) >= 0 && Number(request_bytes) > 0 && Number(response_bytes) > 0);
  assert.deepEqual(rest, {
    ...{ edge: missing.items[1]?.['edge'], client: '127.0.0.1', host: 'www.example.com', method: 'GET', target: '/a' },
    ...{ protocol: 'HTTP/1.1', cache: 'TCP_MEM_HIT', status: 200, content_type: '-', referer: '-', user_agent: '-' },
  });

  assert.equal(await service.stop(), 0);
  assert.deepEqual([await missing.ended, await all.ended], [true, true]);
  assert.deepEqual([missing.items.at(-1), all.items.at(-1)], [{ end: 'stopping' }, { end: 'stopping' }]);
});

test('a filter that cannot be read is refused by its term, and a signed address opens nothing else', async (t) => {
  const service = await startService(t);
  const { client, domain_id } = await addDomain(service, '192.0.2.1');
  const english = createClient({ baseUrl: service.controlUrl, accessToken: service.token, locale: 'en' });
  const rows: readonly (readonly [string, RegExp])[] = [
    [
      'status=6xx',
      /^field filter\[status\] is invalid: expected statuses or classes of them, such as 404,5xx; found "status=6xx"$/,
    ],
    ['method=GET client=10.0.0.0/99', /^field filter\[client\] is invalid: expected addresses or networks/],
    ['path=a', /^field filter\[path\]/],
    ['cache=warm', /^field filter\[cache\]/],
    ['edge=a/b', /^field filter\[edge\]/],
    ['method=G3T', /^field filter\[method\]/],
    [
      'colour=red',
      /^field filter is invalid: expected terms such as field=value,value, divided by blanks, with one of/,
    ],
    ['status', /^field filter is invalid/],
  ];
  for (const [filter, expected] of rows)
    await assert.rejects(english.call('log.tail', { domain_id, filter }), { message: expected });
  await assert.rejects(english.call('log.tail', { domain_id: '999' }), { message: 'domain 999 does not exist' });
  const { url } = await client.call('log.tail', { domain_id, filter: 'status=404' });
  const codeOf = async (address: string) => (await fetch(address)).headers.get('x-error-code');
  assert.equal(await codeOf(url.replace('status%3D404', 'status%3D200')), 'addressInvalid');
  assert.equal(await codeOf(url.replace(`/${domain_id}?`, '/999?')), 'addressInvalid');
  assert.equal(await codeOf(url.replace(/expires=\d+/, 'expires=1')), 'addressInvalid');
});

test('the command prints lines until the time is over, and says when the service dies', async (t) => {
  const origin = await startOrigin(t, STATUSES);
  const { service, edgePort } = await startWithDomain(t, origin.port);
  const args = ['log', 'tail', 'www.example.com', '--data-dir', service.dataDir, '--filter', 'method=GET'];
  let isOver = false;
  const requests = async () => {
    for (let n = 0; !isOver; n++) await fetchFrom(edgePort, `/c?${n}`);
  };
  const [printed] = await Promise.all([
    runCommand(t, [...args, '--seconds', '2']).finally(() => {
      isOver = true;
    }),
    requests(),
  ]);
  assert.deepEqual([printed.code, printed.stderr], [0, '']);
  assert.match(printed.stdout, /^\S+ \S+ 127\.0\.0\.1 GET www\.example\.com\/c\?\d+ 200 TCP_\w+ \d+ B \d+ ms$/m);
  // The loop is quicker than what is shown.
  assert.match(printed.stdout, /^\(\d+ more lines matched and are not shown\)$/m);

  const running = spawnCommand(t, args);
  await eventually('it prints lines', async () => {
    await fetchFrom(edgePort, '/d');
    return running.stdout().includes('/d 200');
  });
  process.kill(service.pids()['control'] ?? 0, 'SIGKILL');
  assert.equal(await running.exit, 1);
  assert.equal(running.stderr(), 'causeway: the connection was lost; run the command again\n');
});

test('a reader that takes nothing loses lines, and holds up neither edge nor control', async (t) => {
  const origin = await startOrigin(t, STATUSES);
  const { client, domain_id, edgePort } = await startWithDomain(t, origin.port);
  const { url } = await client.call('log.tail', { domain_id, seconds: 600 });
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  socket.pause();
  const long = 'x'.repeat(400);
  for (let n = 0; n < 3000; n++) await fetchFrom(edgePort, `/${n % 20}?${long}`);
  assert.ok((await client.call('domain.get', { domain_id })).domain_id);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  socket.resume();
  await eventually('it is told what it has lost', () => /\{"dropped":[1-9]/.test(text));
});

test('a tail at one control has the lines of edges that follow another', needs('postgres'), async (t: TestContext) => {
  const { url = '' } = await newPostgres(t);
  const origin = await startOrigin(t, STATUSES);
  const shared = {
    DATABASE_URL: url,
    CAUSEWAY_KEYRING: join(temporaryFolder(t), 'keyring'),
    CAUSEWAY_LOG_STORE_SHARED: 'true',
    CAUSEWAY_STOP_DELAY_SECONDS: '0',
    CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
  };
  const first = await startService(t, { settings: { ...shared, CAUSEWAY_EDGE_ID: 'one' } });
  const second = await startService(t, {
    settings: { ...shared, CAUSEWAY_EDGE_ID: 'two', CAUSEWAY_TOKEN: first.token },
  });
  const { client, domain_id } = await addDomain(first, origin.port);
  const followed = await follow(client, { domain_id });
  // At the other control: each gives an account its share of the tails.
  const other = createClient({ baseUrl: second.controlUrl, accessToken: first.token });
  const only = await follow(other, { domain_id, filter: 'edge=two' });
  let n = 0;
  const edges = ({ items }: Followed) => [...new Set(items.flatMap(({ edge }) => edge ?? []))].sort();
  await eventually('lines of both edges are there', async () => {
    for (const { edgeUrl } of [first, second]) await fetchFrom(Number(new URL(edgeUrl).port), `/two?${n++}`);
    return edges(followed).length === 2 && edges(only).length === 1;
  });
  assert.deepEqual([edges(followed), edges(only)], [['one', 'two'], ['two']]);
  // An edge that is the other control's alone explains, too.
  process.kill(first.pids()['edge-feed'] ?? 0, 'SIGSTOP');
  const explained = await client.call('domain.explain', { domain_id, url: 'http://www.example.com/two?0' });
  assert.equal(explained.edge, 'two');
  process.kill(first.pids()['edge-feed'] ?? 0, 'SIGCONT');
});

test('an edge on another machine explains requests and sends the lines of its viewers', async (t) => {
  const origin = await startOrigin(t, STATUSES);
  const control = await startService(t, {
    settings: { CAUSEWAY_ROLES: 'control', CAUSEWAY_FLEET_LISTEN: '127.0.0.1:0' },
  });
  const fleet = /^fleet +(\S+)/m.exec(control.process.stdout())?.[1] ?? '';
  const { stdout: token } = await runCommand(t, ['edge', 'token', 'create', '--edge-id', 'fra1'], {
    settings: { CAUSEWAY_DATA_DIR: control.dataDir },
  });
  const [dataDir, tokenFile] = [join(temporaryFolder(t), 'edge'), join(temporaryFolder(t), 'token')];
  writeFileSync(tokenFile, token);
  await runCommand(t, ['edge', 'enrol', '--data-dir', dataDir, '--control', fleet, '--token-file', tokenFile]);
  const edge = await startService(t, {
    dataDir,
    settings: { CAUSEWAY_ROLES: 'edge', CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8' },
  });
  const { client, domain_id } = await addDomain(control, origin.port);
  const followed = await follow(client, { domain_id });
  let n = 0;
  await eventually('its lines are there', async () => {
    await fetchFrom(Number(new URL(edge.edgeUrl).port), `/far?${n++}`);
    return targets(followed).some((target) => String(target).startsWith('/far'));
  });
  assert.equal(followed.items[1]?.['edge'], 'fra1');
  const explained = await client.call('domain.explain', { domain_id, url: 'http://www.example.com/far?0' });
  assert.deepEqual([explained.edge, explained.x_cache], ['fra1', 'HIT']);
});
