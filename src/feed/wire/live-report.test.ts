import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_LIVE_EVENTS, parseLiveAnswer, parseLiveReport } from './live-report.ts';
import { MessageError } from './messages.ts';

const NAME = { domainId: 7, app: 'live', stream: 'news', broadcast: 'b1' };
const BEGAN = { ...NAME, n: 1, at: 1000, kind: 'began', source: 'publish', address: '192.0.2.1' };
const ENDED = { ...NAME, n: 2, at: 2000, kind: 'ended', reason: 'lost' };
const STATUS = {
  ...NAME,
  startedAt: 1000,
  lastMediaAt: 1900,
  source: 'publish',
  address: '192.0.2.1',
  isInGrace: false,
  videoCodec: 'avc1',
  audioCodec: '',
  width: 1280,
  height: 720,
  frameRate: 29.97,
  keyFrameMs: 2000,
  bitsPerSecond: 2_100_000,
  repairedTimestamps: 0,
  viewers: { flv: 1, websocket: 0, rtmp: 0, hls: 3 },
  flashVer: 'FMLE/3.0',
};
const REPORT = { edge: 'edge-1', epoch: 'f1', at: 3000, events: [BEGAN, ENDED], streams: [STATUS] };

test('a report is read as it was sent; one without streams has none', () => {
  assert.deepEqual(parseLiveReport(JSON.stringify(REPORT)), REPORT);
  const { streams, ...others } = REPORT;
  assert.ok(!('streams' in parseLiveReport(JSON.stringify(others))) && streams.length === 1);
  assert.deepEqual(parseLiveAnswer('{"taken":2,"notOwned":["b1"]}'), { taken: 2, notOwned: ['b1'] });
});

const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  [{ ...REPORT, edge: 'a b' }, /^edge: /],
  [{ ...REPORT, epoch: '' }, /^epoch: /],
  [{ ...REPORT, events: undefined }, /^events: /],
  [{ ...REPORT, events: Array(MAX_LIVE_EVENTS + 1).fill(BEGAN) }, /^events: expected a list of at most 500/],
  [{ ...REPORT, events: [ENDED, BEGAN] }, /^n: expected ascending/],
  [{ ...REPORT, events: [{ ...BEGAN, n: 0 }] }, /^n: expected ascending/],
  [{ ...REPORT, events: [{ ...BEGAN, kind: 'paused' }] }, /^kind: /],
  [{ ...REPORT, events: [{ ...BEGAN, source: 'file' }] }, /^source: expected one of publish, origin/],
  [{ ...REPORT, events: [{ ...ENDED, reason: 'bored' }] }, /^reason: /],
  [{ ...REPORT, events: [{ ...BEGAN, app: 'a/b' }] }, /^app: /],
  [{ ...REPORT, events: [{ ...BEGAN, stream: '' }] }, /^stream: /],
  [{ ...REPORT, events: [{ ...BEGAN, broadcast: 'B' }] }, /^broadcast: /],
  [{ ...REPORT, events: [{ ...BEGAN, domainId: 0 }] }, /^domainId: /],
  [{ ...REPORT, events: [{ ...BEGAN, domainId: 2 ** 31 }] }, /^domainId: /],
  [{ ...REPORT, at: 2 ** 53 - 1 }, /^at: expected epoch milliseconds/],
  [{ ...REPORT, events: [{ ...BEGAN, at: 2 ** 53 - 1 }] }, /^at: expected epoch milliseconds/],
  [{ ...REPORT, streams: [{ ...STATUS, startedAt: 8.64e15 + 1 }] }, /^startedAt: /],
  [{ ...REPORT, streams: [{ ...STATUS, viewers: { ...STATUS.viewers, hls: 2 ** 31 } }] }, /^hls: /],
  [{ ...REPORT, streams: [{ ...STATUS, frameRate: -1 }] }, /^frameRate: /],
  [{ ...REPORT, streams: [{ ...STATUS, viewers: { flv: 1 } }] }, /^websocket: /],
  [{ ...REPORT, streams: [{ ...STATUS, videoCodec: 'x'.repeat(33) }] }, /^videoCodec: /],
  [[], /^report: expected an object/],
];

for (const [report, message] of REFUSED) {
  test(`a report is refused: ${message.source}`, () => {
    assert.throws(
      () => parseLiveReport(JSON.stringify(report)),
      (error: unknown) => {
        assert.ok(error instanceof MessageError);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test('characters that a database cannot store are removed from the texts of a publisher', () => {
  const report = { ...REPORT, streams: [{ ...STATUS, flashVer: 'a\0b\ud800' }] };
  assert.equal(parseLiveReport(JSON.stringify(report)).streams?.[0]?.flashVer, 'ab\ufffd');
});
