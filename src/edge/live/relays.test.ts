import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { FLV_ENCODING } from '#fanout/flv-encoding.ts';
import { flvHeader, writeFlvTag } from '#fanout/media/flv.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { silentLog } from '../../../test/support/feed/feed.ts';
import { media } from '../../../test/support/live/live-edge.ts';
import { Relays } from './relays.ts';

test('a domain whose streams fill its share of a worker has the largest one emptied', async (t) => {
  const answers = new Map<string, IncomingMessage>();
  const relays = new Relays({
    client: {
      openFlv: async ({ domainId, stream }) => {
        const answer = new IncomingMessage(new Socket());
        answer.statusCode = 200;
        answers.set(`${domainId}/${stream}`, answer);
        return answer;
      },
    },
    streams: { get: () => undefined },
    log: silentLog,
  });
  t.after(() => relays.close());
  const [headers, key] = media('V1', 'k1');
  const open = async (domainId: number, stream: string, bytes: number) => {
    const opened = await relays.open({ domainId, app: 'live', stream }, undefined);
    const answer = answers.get(`${domainId}/${stream}`);
    assert.ok(opened.kind === 'relay' && answer !== undefined && headers !== undefined && key !== undefined);
    const frame = { ...key, data: Buffer.concat([key.data, Buffer.alloc(bytes)]) };
    answer.push(
      Buffer.concat([flvHeader({ hasAudio: false, hasVideo: true }), writeFlvTag(headers), writeFlvTag(frame)]),
    );
    await eventually('kept', () => opened.relay.bytesHeld >= bytes);
    return () => {
      let written = 0;
      const seat = opened.relay.attach({
        encoding: FLV_ENCODING,
        write: (piece) => {
          written += piece.length;
        },
        queuedBytes: 0,
        end: () => undefined,
        cut: () => undefined,
      });
      seat.detach();
      return written > bytes;
    };
  };
  const large = await open(1, 'a', 60_000);
  const small = await open(1, 'b', 10_000);
  const other = await open(2, 'a', 20_000);
  relays.empty(100_000);
  assert.deepEqual([large(), small(), other()], [false, true, true]);
});
