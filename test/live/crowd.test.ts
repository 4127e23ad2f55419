/** Many viewers of one stream on the whole service: how often its owner is asked, and how the service ends below them. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { makeAuthKey } from '#sites/live-key.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { openFlv } from '../support/live/live-edge.ts';
import { LIVE_HOST, LiveOnService } from '../support/live/live-on-service.ts';
import { aacHeader, frames } from '../support/live/media-messages.ts';

const PLAY_KEY = 'keysofviewers1234';
const VIEWERS = 200;

test('200 viewers with keys of their own cause one request for a playlist and one for a part; all end in order with the service', async (t) => {
  const { world, publisher, flv, get, send, sign, findHint, countQuestions, areWaiting } = await startWatched(t);
  const hint = await findHint();
  const before = await countQuestions();
  const crowd = Array.from({ length: VIEWERS }, (_, viewer) => [get(hint.playlist, viewer), get(hint.part, viewer)]);
  await areWaiting(2); // those who come later are answered from what is stored
  await send(1_000);
  const answers = await Promise.all(crowd.flat());
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.deepEqual(await countQuestions(), { playlists: before.playlists + 1, parts: before.parts + 1 });

  const player = await world.open();
  assert.equal((await player.play(`a?${sign('/live/a', 1)}`)).code, 'NetStream.Play.Start');
  const { playlist, part } = await findHint(hint.part);
  const waiting = [get(playlist, 1), get(part, 2)].map((answer) => answer.catch(() => undefined));
  await areWaiting(2);
  assert.deepEqual(await world.stop(), [], 'nothing that an operator would look into');
  await Promise.all([...waiting, player.ended(), publisher.ended()]);
  await eventually('viewers have ended', () => flv.ended() !== undefined);
});

/** Starts a stream that is packaged for HLS and has one viewer of HTTP-FLV. Playing it needs a key. */
async function startWatched(t: TestContext) {
  const world = await LiveOnService.start(t);
  const { account_id, domain_id } = world.stream;
  const rotated = { kind: 'play', action: 'rotate', key: PLAY_KEY } as const;
  await world.client.call('liveOperator.setKeys', { account_id, domain_id, ...rotated });
  const publisher = await world.published();
  const sign = (path: string, viewer: number) =>
    `auth_key=${makeAuthKey({ path, key: PLAY_KEY, expiresAt: Date.now() + 3_600_000, random: `viewer${viewer}` })}`;
  const ask = (path: string) => fetchFrom(world.edgePort, path, { host: LIVE_HOST });
  const get = (path: string, viewer: number) =>
    ask(`${path}${path.includes('?') ? '&' : '?'}${sign('/live/a.m3u8', viewer)}`);
  await eventually('a key is needed', async () => (await ask('/live/a.m3u8')).status === 403);
  const master = await eventually('it is on air', async () => {
    const { status, body } = await get('/live/a.m3u8', 0);
    return status === 200 && body;
  });
  const folder = `/live/${/^(a\/[a-z0-9]+)\/media\.m3u8/m.exec(master)?.[1]}`;
  const flv = await openFlv(world.edgePort, `/live/a.flv?${sign('/live/a.flv', 1)}`, { host: LIVE_HOST });
  // So that it is not taken for silent, however slow the machine is.
  const alive = setInterval(() => publisher.send(aacHeader()), 1_000);
  t.after(() => clearInterval(alive));
  let sentMs = 5_000;
  let marks = 0;
  /** Resolves when the owner has packaged it: the last message has reached a viewer. */
  const send = async (ms: number) => {
    for (const message of frames({ fromMs: sentMs, untilMs: sentMs + ms })) publisher.send(message);
    sentMs += ms;
    marks++;
    publisher.send({ kind: 'audio', timestampMs: sentMs - 1, data: Buffer.of(0xaf, 1, marks) });
    await eventually('it has come', () => flv.names().split(' ').includes(`a${marks}`));
  };
  await send(4_000);
  return {
    world,
    publisher,
    flv,
    sign,
    get,
    send,
    /** The part that comes next, other than `before`, and the playlist that will hold it. A stored playlist may be a second old. */
    findHint: (before = '') =>
      eventually('the next part is told', async () => {
        const { body } = await get(`${folder}/media.m3u8`, 0);
        const [, name = '', msn, index] = /PRELOAD-HINT:TYPE=PART,URI="((\d+)\.(\d+)\.m4s)/.exec(body) ?? [];
        const part = `${folder}/${name}`;
        return part !== before && { part, playlist: `${folder}/media.m3u8?_HLS_msn=${msn}&_HLS_part=${index}` };
      }),
    /** How often workers have asked the owner. */
    countQuestions: async () => ({
      playlists: await world.metric('causeway_live_hls_requests_total', 'file="media"'),
      parts: await world.metric('causeway_live_hls_requests_total', 'file="part"'),
    }),
    /** Resolves when so many requests wait, the viewer of FLV not counted. */
    areWaiting: (count: number) =>
      eventually('they wait', async () => (await world.metric('causeway_edge_requests_under_way')) > count),
  };
}
