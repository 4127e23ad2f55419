/** The conversation without sockets: what is passed on, odd clients, and the deadlines. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AmfObject, type AmfValue, decodeAmf0, encodeAmf0 } from '#live/rtmp/amf0.ts';
import { writeMessage } from '#live/rtmp/chunk-writer.ts';
import { MESSAGE_TYPE } from '#live/rtmp/messages.ts';
import { createRecordingOwner, type RecordingOwner } from '../support/live/rtmp-server.ts';
import {
  CONNECTED,
  control,
  FLASH,
  FMLE,
  openPlaying,
  openPublishing,
  openSession,
  PUBLISHING,
  type Sent,
  send,
} from '../support/live/rtmp-session.ts';

describe('an RTMP session', () => {
  test('an RTMP session reports its enhanced RTMP features to clients that ask', async () => {
    const info = async (fields: AmfObject) => {
      const client = openSession(createRecordingOwner());
      client.command(0, 'connect', 1, { ...FMLE, ...fields });
      const [answer] = client.messages().filter(({ type }) => type === MESSAGE_TYPE.command);
      return decodeAmf0(answer?.payload ?? Buffer.alloc(0))[3];
    };
    const forwarded = { avc1: 4, hvc1: 4, av01: 4, vp09: 4 };
    const answer = Object(await info({ videoFourCcInfoMap: { '*': 7 }, capsEx: 15 }));
    assert.deepEqual({ ...answer.videoFourCcInfoMap }, forwarded);
    assert.deepEqual([answer.fourCcList.includes('Opus'), answer.capsEx], [true, 4]);
    assert.equal('fourCcList' in Object(await info({})), false);
  });

  test('an RTMP session passes messages on as sent: metadata without its command, aggregates split, empty ones left out', async () => {
    const owner = createRecordingOwner();
    const client = await openPublishing(owner);
    const metadata = encodeAmf0('onMetaData', { width: 2 });
    const media = (type: number, payload: Buffer, timestamp = 9) =>
      client.say({ type, payload, timestamp, streamId: 1 });
    media(MESSAGE_TYPE.data, Buffer.concat([encodeAmf0('@setDataFrame'), metadata]));
    media(MESSAGE_TYPE.data, encodeAmf0('@clearDataFrame', 'onMetaData'));
    media(MESSAGE_TYPE.audio, Buffer.alloc(0));
    const part = Buffer.from('09000002000064000000001701 0000000d'.replace(' ', ''), 'hex');
    media(MESSAGE_TYPE.aggregate, Buffer.concat([part, part]), 0xffffffff);
    assert.deepEqual(
      owner.published[0]?.messages.slice(1).map(({ kind, timestampMs, data }) => [kind, timestampMs, data]),
      [
        ['data', 9, metadata],
        ['video', 0xffffffff, Buffer.from('1701', 'hex')],
        ['video', 0xffffffff, Buffer.from('1701', 'hex')],
      ],
    );
  });

  test('an RTMP session answers pings, and acknowledges each window', async () => {
    const owner = createRecordingOwner();
    const client = await openPublishing(owner);
    client.say(control(MESSAGE_TYPE.userControl, '000601020304'));
    assert.deepEqual(await client.answers(), ['userControl 7 16909060']);
    client.say(control(MESSAGE_TYPE.windowAcknowledgementSize, '00004000'));
    client.say({ type: MESSAGE_TYPE.video, payload: Buffer.alloc(10_000, 0x27), streamId: 1 });
    const [answer = ''] = await client.answers();
    assert.equal(answer, `acknowledgement ${client.session.receivedBytes}`);
  });

  test('an RTMP session holds the client while its owner decides, and then continues reading', async () => {
    const decision = Promise.withResolvers<void>();
    const owner = createRecordingOwner();
    const publish: RecordingOwner['publish'] = async (...args) => {
      await decision.promise;
      return await owner.publish(...args);
    };
    const client = openSession({ ...owner, publish });
    const commands = [
      [0, 'connect', 1, FMLE],
      [0, 'createStream', 2, null],
      [1, 'publish', 3, null, 'a'],
    ] as const;
    const bytes = commands.map(([streamId, ...values]) =>
      writeMessage({ type: 20, timestamp: 0, streamId, payload: encodeAmf0(...values) }, 3, 128),
    );
    const video = writeMessage({ type: 9, timestamp: 5, streamId: 1, payload: Buffer.of(0x17, 0) }, 4, 128);
    client.receive(Buffer.concat([...bytes, video]));
    assert.deepEqual([client.isPaused, (await client.answers()).length], [true, 4]);
    decision.resolve();
    assert.deepEqual(await client.answers(), PUBLISHING);
    assert.deepEqual([client.isPaused, owner.published[0]?.messages.length], [false, 1]);
  });

  test('an RTMP session that ends while its owner decides ends the sink that it is given', async () => {
    const owner = createRecordingOwner();
    const client = openSession(owner);
    client.command(0, 'connect', 1, FMLE);
    client.command(1, 'publish', 3, null, 'a');
    client.session.leave('gone');
    await client.answers();
    assert.equal(owner.published[0]?.end?.kind, 'lost');
    assert.deepEqual(client.roles, []);
  });

  test('an RTMP session that is closed within a message ignores the rest of the bytes', async () => {
    const owner = createRecordingOwner();
    const client = await openPublishing(owner);
    const [published] = owner.published;
    const take = published?.messages.push.bind(published.messages);
    if (published !== undefined)
      published.messages.push = (...messages) => {
        published.connection.close({ code: 'NetStream.Publish.Denied', description: 'forbidden' });
        return take?.(...messages) ?? 0;
      };
    const frame = writeMessage({ type: 9, timestamp: 5, streamId: 1, payload: Buffer.of(0x27) }, 4, 128);
    client.receive(Buffer.concat([frame, frame, frame]));
    assert.equal(published?.messages.length, 2);
    assert.deepEqual(await client.answers(), ['onStatus NetStream.Publish.Denied']);
    assert.deepEqual([client.finish, client.isPaused, client.end], ['finished', true, 'closed']);
  });

  test('an RTMP session ends when its sink or player fails, and ends nothing else', async () => {
    const owner = createRecordingOwner();
    const client = await openPublishing(owner);
    const [published] = owner.published;
    if (published !== undefined)
      published.messages.push = () => {
        throw new Error('no room');
      };
    client.say({ type: MESSAGE_TYPE.video, payload: Buffer.of(0x27), streamId: 1 });
    assert.deepEqual([client.end, published?.end?.kind], ['failed', 'lost']);
    const start = () => {
      throw new Error('no hub');
    };
    const player = openSession({
      ...owner,
      play: async () => ({ kind: 'accepted', player: { start, stop: () => {}, leave: () => {} } }),
    });
    player.command(0, 'connect', 1, FLASH);
    player.command(1, 'play', 2, null, 'a');
    assert.equal((await player.answers()).at(-1), 'onStatus NetStream.Play.Failed');
    assert.equal(player.end, 'failed');
  });

  test('an RTMP session writes only the tracks that a player wants', async () => {
    const owner = createRecordingOwner();
    await openPublishing(owner);
    const player = await openPlaying(owner);
    player.command(1, 'receiveVideo', 0, null, false);
    await player.answers();
    const [viewer] = owner.viewers;
    assert.equal(viewer?.encoding.name, 'rtmp-audio-only');
    const kinds = (['audio', 'video', 'data'] as const).filter(
      (kind) => (viewer?.encoding.encode({ kind, timestampMs: 0, data: Buffer.of(1) }).length ?? 0) > 0,
    );
    assert.deepEqual(kinds, ['audio', 'data']);
  });
});

/** What it sends after `connect`, what it is told, and how its connection ends. */
const ODD: readonly (readonly [
  what: string,
  connect: AmfValue | 'none',
  sent: readonly Sent[],
  answers: readonly string[],
  end: string | undefined,
])[] = [
  ['connects without an app', {}, [], ['_error 1 NetConnection.Connect.InvalidApp'], 'refused'],
  ['connects with nothing', null, [], ['_error 1 NetConnection.Connect.InvalidApp'], 'refused'],
  ['connects without a tcUrl', { app: 'live' }, [[1, 'publish', 2, null, 'a']], PUBLISHING, undefined],
  ['connects with an odd tcUrl', { app: 'live', tcUrl: '::' }, [[1, 'publish', 2, null, 'a']], PUBLISHING, undefined],
  ['connects twice', FMLE, [[0, 'connect', 2, FMLE]], [], 'malformed'],
  ['publishes before it connects', 'none', [[1, 'publish', 2, null, 'a']], [], 'malformed'],
  ['publishes no name', FMLE, [[1, 'publish', 2, null, 7]], PUBLISHING, undefined],
  [
    'publishes twice',
    FMLE,
    [
      [1, 'publish', 2, null, 'a'],
      [1, 'publish', 3, null, 'b'],
    ],
    [...PUBLISHING, 'onStatus NetStream.Publish.BadName'],
    undefined,
  ],
  [
    'plays on another stream than the first',
    FMLE,
    [[2, 'play', 2, null, 'a']],
    ['onStatus NetStream.Play.Failed'],
    undefined,
  ],
  ['plays what is not there', FMLE, [[1, 'play', 2, null, 'a']], ['onStatus NetStream.Play.StreamNotFound'], 'refused'],
  ['calls what is not known', FMLE, [[0, 'shutDown', 9, null]], ['_error 9 NetConnection.Call.Failed'], undefined],
  ['tells what is not known', FMLE, [[0, 'onBWDone', 0, null]], [], undefined],
  ['unpublishes what it does not publish', FMLE, [[0, 'FCUnpublish', 4, null, 'a']], ['_result 4'], undefined],
  [
    'makes nine streams',
    FMLE,
    Array.from({ length: 9 }, () => [0, 'createStream', 2, null] as const),
    [...Array.from({ length: 8 }, (_, index) => `_result 2 ${index + 1}`), '_error 2 NetConnection.Call.Failed'],
    undefined,
  ],
  ['sends media before it publishes', FMLE, [control(MESSAGE_TYPE.video, '1700')], [], undefined],
  ['sends a command that is no AMF', FMLE, [control(MESSAGE_TYPE.command, 'ff')], [], 'malformed'],
  ['sends a command without a name', FMLE, [control(MESSAGE_TYPE.command, '05')], [], 'malformed'],
  ['sends an empty command', FMLE, [control(MESSAGE_TYPE.command, '')], [], 'malformed'],
  ['sends a short ping', FMLE, [control(MESSAGE_TYPE.userControl, '000601')], [], 'malformed'],
  ['sends a message of a type that is not known', FMLE, [control(99, '00')], [], undefined],
];

describe('an odd RTMP client', () => {
  for (const [what, connect, sent, answers, end] of ODD)
    test(`an RTMP client that ${what} is answered as expected`, async () => {
      const client = openSession(createRecordingOwner());
      if (connect !== 'none') client.command(0, 'connect', 1, connect);
      for (const one of sent) send(client, one);
      const isConnected = connect !== 'none' && end !== 'refused';
      const expected =
        isConnected || answers[0]?.startsWith('onStatus') === true ? [...CONNECTED, ...answers] : answers;
      assert.deepEqual(await client.answers(), expected);
      assert.equal(client.end, end);
    });
});

describe('a deadline of RTMP', () => {
  const video = { type: MESSAGE_TYPE.video, payload: Buffer.of(0x17, 0), streamId: 1 };

  test('a deadline ends a connection without a handshake after 5 s', () => {
    const client = openSession(createRecordingOwner(), false);
    client.timers.advance(4_999);
    assert.equal(client.end, undefined);
    client.timers.advance(1);
    assert.deepEqual([client.end, client.timers.size], ['handshakeTimeout', 0]);
  });

  test('a deadline ends a connection that neither publishes nor plays after 10 s, whatever else it sends', () => {
    const client = openSession(createRecordingOwner());
    client.timers.advance(9_000);
    client.command(0, 'connect', 1, FMLE);
    client.timers.advance(1_000);
    assert.equal(client.end, 'commandTimeout');
  });

  test('a deadline ends a publisher without audio or video after 5 s, as if it had not published', async () => {
    const owner = createRecordingOwner();
    const client = openSession(owner);
    client.command(0, 'connect', 1, FMLE);
    client.command(1, 'publish', 2, null, 'a');
    await client.answers();
    client.say({ type: MESSAGE_TYPE.data, payload: encodeAmf0('onMetaData', {}) });
    client.timers.advance(5_000);
    assert.deepEqual([client.end, owner.published[0]?.end], ['noMedia', { kind: 'unpublished' }]);
  });

  test('a deadline ends a publisher that is silent for 15 s, and no other', async () => {
    const owner = createRecordingOwner();
    const client = await openPublishing(owner);
    client.timers.advance(14_000);
    client.say(video);
    client.timers.advance(14_999);
    assert.equal(client.end, undefined);
    client.timers.advance(1);
    assert.deepEqual([client.end, owner.published[0]?.end?.kind], ['silent', 'lost']);
    assert.equal(client.timers.size, 0);
  });

  test('a deadline ends a client that has stopped publishing after 10 s', async () => {
    const client = await openPublishing(createRecordingOwner());
    client.command(0, 'deleteStream', 4, null, 1);
    client.timers.advance(10_000);
    assert.deepEqual([client.end, client.roles], ['commandTimeout', ['publishing', 'waiting']]);
  });

  test('a deadline ends a player that is paused for ten minutes', async () => {
    const owner = createRecordingOwner();
    await openPublishing(owner);
    const player = await openPlaying(owner);
    player.command(1, 'pause', 0, null, true, 0);
    player.command(1, 'pause', 0, null, false, 0);
    player.timers.advance(600_000);
    assert.deepEqual([player.end, owner.viewers.size], [undefined, 1]);
    player.command(1, 'pause', 0, null, true, 0);
    assert.deepEqual([owner.viewers.size, owner.left.length], [0, 0]);
    player.timers.advance(600_000);
    assert.deepEqual([player.end, owner.viewers.size, owner.left.length], ['commandTimeout', 0, 1]);
  });

  test('a deadline ends no player, and no client whose owner is still deciding', async () => {
    const owner = createRecordingOwner();
    await openPublishing(owner);
    const player = openSession(owner);
    player.command(0, 'connect', 1, FLASH);
    player.command(1, 'play', 2, null, 'a');
    assert.equal(player.timers.size, 0);
    await player.answers();
    assert.equal(player.timers.size, 0);
  });
});
