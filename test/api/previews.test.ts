/** Streams that sessions play through control, over HTTP on both engines: whose they are, how many, and when they end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { pageFields, startTestApi, type TestApi } from '../support/api/api.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { askScriptedEdge } from '../support/api/scripted-edge.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { onAir } from '../support/live/live-reports.ts';

const DOMAIN = 'live.example.com';
const NEWS = { domain: DOMAIN, app_name: 'live', stream_name: 'news' };

describeOnBothEngines('previews of live streams', (newDatabase, engine) => {
  test('a session plays a stream for as long as the edge sends it, and others cannot', async (t) => {
    const { api, mine, theirs, me, other, edge, url } = await start(t, newDatabase);
    const cookie = await api.signIn(me.accessToken);
    const preview = await play(t, api, await url(cookie), cookie);
    assert.deepEqual([preview.status, preview.type], [200, 'video/x-flv']);
    assert.match(preview.caching, /no-store/);
    const [asked] = edge.asked;
    assert.deepEqual([Object(asked).kind, Object(asked).app, Object(asked).stream], ['preview', 'live', 'news']);
    await eventually('the beginning is there', () => preview.text() === 'FLV');
    edge.uploads[0]?.write(' and more');
    await eventually('more is there', () => preview.text() === 'FLV and more');
    assert.match(await api.registry.metrics(), /^causeway_api_previews 1$/m);
    edge.uploads[0]?.end();
    await preview.ended;
    await eventually('it is over', async () => /^causeway_api_previews 0$/m.test(await api.registry.metrics()));

    const address = await url(cookie);
    const theirCookie = await api.signIn(other.accessToken);
    const refusals = [
      await play(t, api, address, theirCookie),
      await play(t, api, address, await api.signIn(me.accessToken)),
      await play(t, api, address.replace('news', 'other'), cookie),
      await play(t, api, address.replace(/expires=\d+/, 'expires=9999999999'), cookie),
      await play(t, api, address, cookie, { 'sec-fetch-site': 'cross-site' }),
      await play(t, api, address, ''),
      await play(t, api, '/previews/1/2/live.flv', cookie),
    ];
    assert.deepEqual(
      refusals.map(({ code }) => code),
      // Of another account, it is as if the domain were not there.
      [
        'domainNotFound',
        'previewInvalid',
        'previewInvalid',
        'previewInvalid',
        'crossSite',
        'fieldMissing',
        'pathUnknown',
      ],
    );
    const byTheirs = await api.call('live.preview', theirCookie, NEWS);
    const byToken = await mine('live.preview', NEWS);
    const ofTheirs = await theirs('live.preview', NEWS);
    assert.deepEqual(
      [byTheirs, byToken, ofTheirs].map(({ errorCode }) => errorCode),
      ['domainNotFound', 'previewNeedsSession', 'previewNeedsSession'],
    );
    assert.equal((await api.call('live.preview', cookie, { ...NEWS, stream_name: 'b' })).errorCode, 'liveNotOnAir');
    assert.equal(edge.asked.length, 1, 'no edge is asked for what is refused');
    const head = await fetch(api.url + address, { method: 'HEAD', headers: pageFields(cookie) });
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'video/x-flv']);
    assert.equal((await fetch(api.url + address, { method: 'POST' })).headers.get('allow'), 'GET, HEAD');
    assert.equal(edge.asked.length, 1);

    api.now += 600_000;
    assert.equal((await play(t, api, address, cookie)).code, 'previewExpired');
  });

  test('a session plays one stream, the second ends the first', async (t) => {
    const { api, me, edge, url } = await start(t, newDatabase);
    const cookie = await api.signIn(me.accessToken);
    const address = await url(cookie);
    const first = await play(t, api, address, cookie);
    const second = await play(t, api, address, cookie);
    await first.ended;
    await eventually('the edge need not send it any more', () => edge.uploads[0]?.destroyed === true);
    edge.uploads[1]?.write(' goes on');
    await eventually('the second goes on', () => second.text() === 'FLV goes on');
  });

  test('an account plays four at once, and all eight, and the ninth begins when another has ended', async (t) => {
    const { api, me, edge, url, joinWithStream } = await start(t, newDatabase);
    const begin = async (accessToken: string, domain: string) => {
      const cookie = await api.signIn(accessToken);
      return await play(t, api, await url(cookie, domain), cookie);
    };
    const four = async (accessToken: string, domain = DOMAIN) => {
      const played = [];
      for (let n = 0; n < 4; n++) played.push(await begin(accessToken, domain));
      assert.deepEqual(
        played.map(({ status }) => status),
        [200, 200, 200, 200],
      );
      return played;
    };
    const [first] = await four(me.accessToken);
    const fifth = await begin(me.accessToken, DOMAIN);
    assert.deepEqual([fifth.status, fifth.code], [429, 'previewsFull']);
    assert.match(fifth.text(), /at most 4 of an account at once, and 8 in all/);
    await four(await joinWithStream('second.example.com'), 'second.example.com');
    const third = await api.signIn(await joinWithStream('third.example.com'));
    const ninth = async () => await play(t, api, await url(third, 'third.example.com'), third);
    assert.equal((await ninth()).code, 'previewsFull');
    assert.equal(edge.asked.length, 8);
    first?.close(); // its reader is gone
    const begun = await eventually('there is room', async () => {
      const preview = await ninth();
      return preview.status === 200 && preview;
    });
    await eventually('it has media', () => begun.text() === 'FLV');
  });

  test('a reader that takes nothing holds up the edge, and control keeps nothing for it', async (t) => {
    const { api, me, edge, url } = await start(t, newDatabase);
    const [slow, quick] = [await api.signIn(me.accessToken), await api.signIn(me.accessToken)];
    const stalled = get(api.url + (await url(slow)), { headers: pageFields(slow) });
    t.after(() => stalled.destroy());
    await once(stalled, 'response'); // which nobody reads
    const reader = await play(t, api, await url(quick), quick);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    for (let n = 0; n < 512; n++) for (const upload of edge.uploads) upload.write(chunk);
    await eventually('the other reader has all of it', () => reader.text().length === 512 * chunk.length + 3, 60_000);
    const left = edge.uploads.map(({ readableLength, writableLength }) => readableLength + writableLength);
    assert.ok((left[0] ?? 0) > 16 * 1024 * 1024, `the edge is left with ${left}`);
  });

  test('a preview ends with what allowed it', async (t) => {
    const { api, me, mine, operate, report, edge, url } = await start(t, newDatabase);
    const begin = async () => {
      const cookie = await api.signIn(me.accessToken);
      const preview = await play(t, api, await url(cookie), cookie);
      assert.equal(preview.status, 200);
      const upload = edge.uploads.at(-1);
      return { cookie, preview, isCut: () => eventually('the edge is let go', () => upload?.destroyed === true) };
    };
    const ofSession = await begin();
    assert.equal((await api.call('session.end', ofSession.cookie, {})).body['status'], 1);
    await ofSession.isCut();
    await ofSession.preview.ended;

    const { domain_id } = dataOf(await mine('domain.get', { domain_id: api.domainId }));
    const ofStream = await begin();
    const stream = { account_id: me.accountId, domain_id, app_name: 'live', stream_name: 'news' };
    await operate('liveOperator.forbid', stream);
    await ofStream.isCut();
    await operate('liveOperator.resume', stream);
    await report();

    const ofToken = await begin();
    const tokens = await api.db.query.selectFrom('token').select('id').where('account_id', '=', me.accountId).execute();
    const revoked = await operate('operator.revokeToken', { account_id: me.accountId, token_id: tokens[0]?.id });
    assert.equal(revoked.errorCode, undefined);
    await ofToken.isCut();
    await ofToken.preview.ended;
  });

  test('a stream that no edge sends is refused after 5 s', async (t) => {
    const { api, me, edge, url } = await start(t, newDatabase);
    edge.isSilent = true;
    const cookie = await api.signIn(me.accessToken);
    const preview = await play(t, api, await url(cookie), cookie);
    assert.deepEqual([preview.status, preview.code], [504, 'previewSilent']);
    assert.match(await api.registry.metrics(), /^causeway_api_previews 0$/m);
  });

  test('streams are listed with details, those of the account and of the domains that a token reaches', async (t) => {
    const { api, me, mine, theirs, report } = await start(t, newDatabase);
    const second = await add(mine, 'second.example.com', { cdn_type: '4' });
    await report(Number(second));
    const { total, list } = dataOf(await mine('live.list', { status: 'ONGOING' }));
    assert.equal(total, 2);
    const [row] = (list as Record<string, unknown>[]).filter(({ domain }) => domain === DOMAIN);
    const { details, ...rest } = row ?? {};
    const [began, ended] = [Math.floor(api.now / 1000), 0];
    const states = { status: 'ONGOING', timestamp: began, endtime: ended, resume_at: 0 };
    assert.deepEqual(rest, { domain_id: String(api.domainId), ...NEWS, ...states });
    assert.equal(Object(details).bit_rate, 2_100_000);
    const names = async (answer: ReturnType<typeof mine>) =>
      (dataOf(await answer)['list'] as { domain: string }[]).map(({ domain }) => domain);
    assert.deepEqual(await names(mine('live.list', { domain: 'second.example.com' })), ['second.example.com']);
    assert.deepEqual(await names(mine('live.list', { stream_name: 'no' })), []);
    assert.deepEqual(await names(theirs('live.list', {})), []);
    assert.equal((await theirs('live.list', { domain: DOMAIN })).errorCode, 'domainNotFound');
    const limited = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [Number(second)] });
    assert.deepEqual(await names(api.call('live.list', limited, {})), ['second.example.com']);
    const nothing = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [] });
    assert.deepEqual(await names(api.call('live.list', nothing, {})), []);
  });

  if (engine === 'postgres')
    test('a session plays one stream, also at two controls', async (t) => {
      const target = await newDatabase(t);
      const shared: NewDatabase = async () => target;
      const { api, me, edge, url } = await start(t, shared);
      const second = await startTestApi(t, shared, { asks: edge.asks });
      const cookie = await api.signIn(me.accessToken);
      const first = await play(t, api, await url(cookie), cookie);
      assert.equal(first.status, 200);
      const other = { url: second.url };
      // The address is signed by the first control's key ring, which real controls share.
      const address = String(dataOf(await second.call('live.preview', cookie, NEWS))['url']);
      const next = await play(t, other, address, cookie);
      assert.equal(next.status, 200);
      await first.ended;
    });
});

async function start(t: TestContext, newDatabase: NewDatabase) {
  const edge = scriptEdge();
  const { api, me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase, { asks: edge.asks });
  const domainId = Number(await add(mine, DOMAIN, { cdn_type: '4' }));
  const domainIds = new Set([domainId]);
  const report = async (id = domainId) => {
    const broadcasts = [...domainIds.add(id)].map((one) =>
      onAir({ domainId: one, app: 'live', stream: 'news', broadcast: `b${one}x${++reports}` }, api.now),
    );
    const stored = { edge: 'local', epoch: 'e', at: api.now, events: [], streams: broadcasts };
    await api.db.transaction((trx) => recordLiveReport(trx, stored, api.now));
  };
  let reports = 0;
  await report();
  const url = async (cookie: string, domain = DOMAIN) =>
    String(dataOf(await api.call('live.preview', cookie, { ...NEWS, domain }))['url']);
  /** A new account that has a stream of the same name on air under its own domain. Returns its token. */
  const joinWithStream = async (domain: string) => {
    const { accessToken } = await api.join('customer', ['cdn']);
    await report(Number(await add((name, request) => api.call(name, accessToken, request), domain, { cdn_type: '4' })));
    return accessToken;
  };
  return { api: Object.assign(api, { domainId }), me, other, mine, theirs, operate, edge, report, url, joinWithStream };
}

/** An edge that sends three bytes for each question, and then what the test writes. */
function scriptEdge() {
  const asked: unknown[] = [];
  const uploads: PassThrough[] = [];
  const asks = askScriptedEdge(
    (content) => {
      asked.push(content);
      return [];
    },
    () => {
      if (edge.isSilent) return undefined;
      const body = new PassThrough();
      body.write('FLV');
      uploads.push(body);
      return body;
    },
  );
  const edge = { asks, asked, uploads, isSilent: false };
  return edge;
}

/** Opens the address as a page of the console does; ended with the test. */
async function play(
  t: TestContext,
  { url }: Pick<TestApi, 'url'>,
  address: string,
  cookie: string,
  fields: Record<string, string> = {},
) {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const response = await fetch(url + address, {
    headers: { ...pageFields(cookie), 'accept-language': 'en', ...fields },
    signal: stop.signal,
  });
  let text = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  };
  const ended = read();
  ended.catch(() => undefined); // it was closed here
  if (response.status !== 200) await ended;
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    caching: response.headers.get('cache-control') ?? '',
    code: response.headers.get('x-error-code'),
    text: () => text,
    ended,
    close: () => stop.abort(),
  };
}
