/** RTMP over real sockets: publishing and playing, how connections end, and their bounds. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from './support/eventually.ts';
import { RtmpClient, sampleMessages } from './support/rtmp-client.ts';
import { startTestRtmpServer } from './support/rtmp-server.ts';

const APP = { app: 'live' };

describe('RTMP', () => {
  for (const schema of [undefined, 0, 1] as const)
    test(`a stream is published and played, handshake ${schema ?? 'simple'}`, async () => {
      await using server = await startTestRtmpServer();
      const at = { port: server.port, ...APP, ...(schema === undefined ? {} : { schema }) };
      await using publisher = await RtmpClient.openStream(at);
      assert.equal((await publisher.publish('a?auth_key=1')).code, 'NetStream.Publish.Start');
      const sent = sampleMessages(100, 0xffff00);
      for (const message of sent) publisher.send(message);
      const [published] = server.owner.published;
      await eventually('all messages', () => published?.messages.length === sent.length);
      assert.deepEqual(published?.messages, sent);

      await using player = await RtmpClient.openStream(at);
      assert.equal((await player.play('a')).code, 'NetStream.Play.Start');
      const isHere = () => player.media.length >= sent.length + 1;
      await eventually('all messages at the player', isHere);
      assert.deepEqual(player.media.slice(1), sent); // the first one gives leave to read samples

      publisher.unpublish('a');
      await player.ended();
      assert.equal(player.statuses.at(-1)?.code, 'NetStream.Play.UnpublishNotify');
      assert.deepEqual(published?.end, { kind: 'unpublished' });
      const { host, app, stream, query, flashVer, isTls } = published.request;
      assert.deepEqual(
        [host, app, stream, query.toString(), flashVer, isTls],
        ['127.0.0.1', 'live', 'a', 'auth_key=1', 'test/1.0', false],
      );
    });
});
