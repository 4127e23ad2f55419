/** What encoders, players and relays send, what they wait for, and that they get it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AmfValue, encodeAmf0 } from '#live/rtmp/amf0.ts';
import { MESSAGE_TYPE, type RtmpMessage } from '#live/rtmp/messages.ts';
import { createRecordingOwner } from '../support/live/rtmp-server.ts';
import {
  CONNECTED,
  control,
  FLASH,
  FMLE,
  openPublishing,
  openSession,
  PUBLISHING,
  type ScriptedSession,
  type Sent,
  send,
} from '../support/live/rtmp-session.ts';

const PLAYING = ['userControl 0 1', 'onStatus NetStream.Play.Reset', 'onStatus NetStream.Play.Start', 'data'];
const UNPUBLISHED = ['onFCUnpublish NetStream.Unpublish.Success', 'onStatus NetStream.Unpublish.Success'];

/** What a client sends, and what it waits for before it goes on. */
type Step = readonly [sent: readonly Sent[], answers: readonly string[]];

const amf3 = (streamId: number, ...values: AmfValue[]): RtmpMessage => ({
  type: MESSAGE_TYPE.commandAmf3,
  timestamp: 0,
  streamId,
  payload: Buffer.concat([Buffer.of(0), encodeAmf0(...values)]),
});
const WINDOW = control(MESSAGE_TYPE.windowAcknowledgementSize, '002625a0');
const BUFFER_LENGTH = control(MESSAGE_TYPE.userControl, '00030000000100000bb8');

const ENCODERS: readonly (readonly [name: string, steps: readonly Step[]])[] = [
  [
    'OBS and ffmpeg (librtmp’s order), and GStreamer’s rtmp2sink',
    [
      [[[0, 'connect', 1, { ...FMLE, swfUrl: FMLE.tcUrl, fourCcList: ['av01', 'hvc1'] }]], CONNECTED],
      [
        [WINDOW, [0, 'releaseStream', 2, null, 'a'], [0, 'FCPublish', 3, null, 'a'], [0, 'createStream', 4, null]],
        ['_result 2', '_result 3', 'onFCPublish NetStream.Publish.Start', '_result 4 1'],
      ],
      [[[1, 'publish', 5, null, 'a', 'live']], PUBLISHING],
      [
        [
          [0, 'FCUnpublish', 6, null, 'a'],
          [0, 'deleteStream', 7, null, 1],
        ],
        ['_result 6', ...UNPUBLISHED],
      ],
    ],
  ],
  [
    'FMLE, which counts its streams by itself',
    [
      [[[0, 'connect', 1, { ...FMLE, fpad: false, capabilities: 239, videoFunction: 1 }]], CONNECTED],
      [
        [
          [0, 'releaseStream', 2, null, 'a?x=1'],
          [0, 'FCPublish', 3, null, 'a?x=1'],
        ],
        ['_result 2', '_result 3', 'onFCPublish NetStream.Publish.Start'],
      ],
      [[[0, 'createStream', 4, null]], ['_result 4 1']],
      [[[1, 'publish', 5, null, 'a?x=1', 'live']], PUBLISHING],
      [
        [
          [0, 'FCUnpublish', 6, null, 'a?x=1'],
          [1, 'closeStream', 0, null],
          [0, 'deleteStream', 7, null, 1],
        ],
        ['_result 6', ...UNPUBLISHED],
      ],
    ],
  ],
  [
    'Flash with AMF3',
    [
      [[[0, 'connect', 1, { ...FLASH, objectEncoding: 3, pageUrl: 'https://example.com/' }]], CONNECTED],
      [[amf3(0, 'createStream', 2, null)], ['_result 2 1']],
      [[amf3(1, 'publish', 0, null, 'a', 'live')], PUBLISHING],
      [[amf3(1, 'closeStream', 0, null)], ['onStatus NetStream.Unpublish.Success']],
    ],
  ],
  [
    'a relay of nginx or SRS',
    [
      [[[0, 'connect', 1, { app: 'live', tcUrl: FMLE.tcUrl, flashVer: 'ngx-local-relay' }]], CONNECTED],
      [[[0, 'createStream', 2, null]], ['_result 2 1']],
      [[[1, 'publish', 3, null, 'a', 'live']], PUBLISHING],
      [[[1, 'deleteStream', 0, null, 1]], ['onStatus NetStream.Unpublish.Success']],
    ],
  ],
  [
    'an encoder that waits for nothing',
    [
      [
        [
          [0, 'connect', 1, FMLE],
          [0, 'createStream', 2, null],
          [1, 'publish', 3, null, 'a', 'live'],
          [0, 'deleteStream', 4, null],
        ],
        [...CONNECTED, '_result 2 1', ...PUBLISHING, 'onStatus NetStream.Unpublish.Success'],
      ],
    ],
  ],
];

const PLAYERS: readonly (readonly [name: string, steps: readonly Step[]])[] = [
  [
    'ffplay and VLC (ffmpeg’s order)',
    [
      [[[0, 'connect', 1, FLASH]], CONNECTED],
      [
        [WINDOW, [0, 'createStream', 2, null], [0, '_checkbw', 3, null]],
        ['_result 2 1', '_result 3'],
      ],
      [
        [[0, 'getStreamLength', 4, null, 'a'], [1, 'play', 0, null, 'a', -2000], BUFFER_LENGTH],
        ['_result 4 0', ...PLAYING],
      ],
      [[[0, 'deleteStream', 5, null, 1]], ['onStatus NetStream.Play.Stop']],
    ],
  ],
  [
    'librtmp, which subscribes',
    [
      [[[0, 'connect', 1, FLASH]], CONNECTED],
      [
        [BUFFER_LENGTH, [0, 'createStream', 2, null], [0, 'FCSubscribe', 3, null, 'a']],
        ['_result 2 1', 'onFCSubscribe NetStream.Play.Start'],
      ],
      [[[1, 'play', 4, null, 'a', -1000]], PLAYING],
    ],
  ],
  [
    'Flash, which pauses and chooses its tracks',
    [
      [[[0, 'connect', 1, FLASH]], CONNECTED],
      [[[0, 'createStream', 2, null]], ['_result 2 1']],
      [[[1, 'play', 0, null, 'a']], PLAYING],
      [[[1, 'pause', 0, null, true, 100]], ['onStatus NetStream.Pause.Notify']],
      [[[1, 'receiveAudio', 0, null, false]], []],
      [[[1, 'pause', 0, null, false, 100]], ['onStatus NetStream.Unpause.Notify']],
      [[[1, 'closeStream', 0, null]], ['onStatus NetStream.Play.Stop']],
    ],
  ],
];

describe('RTMP encoders and players', () => {
  for (const [name, steps] of ENCODERS)
    test(`the commands of ${name} are answered in order`, async () => {
      const owner = createRecordingOwner();
      const client = openSession(owner);
      await follow(client, steps);
      const [published] = owner.published;
      const { app, stream, host } = published?.request ?? {};
      assert.deepEqual([app, stream, host, published?.end], ['live', 'a', 'live.example.com', { kind: 'unpublished' }]);
      assert.equal(client.end, undefined);
    });

  for (const [name, steps] of PLAYERS)
    test(`the commands of ${name} are answered in order`, async () => {
      const owner = createRecordingOwner();
      await openPublishing(owner);
      const client = openSession(owner);
      await follow(client, steps);
      client.session.leave('gone');
      assert.equal(owner.viewers.size, 0);
    });
});

async function follow(client: ScriptedSession, steps: readonly Step[]): Promise<void> {
  for (const [sent, answers] of steps) {
    for (const one of sent) send(client, one);
    const isMedia = (answer: string) => answer === 'video' || answer === 'audio';
    assert.deepEqual(
      (await client.answers()).filter((answer) => !isMedia(answer)),
      answers,
    );
  }
}
