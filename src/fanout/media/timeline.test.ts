import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { describeMedia } from './describe.ts';
import { Timeline } from './timeline.ts';

type Step = readonly [kind: 'audio' | 'video' | 'header' | 'data', rawMs: number, afterMs?: number];

const BYTES = { audio: 'af01aa', video: '2701000000aa', header: '170000000001', data: '0200' };

/** The positions of messages that come at once, or `afterMs` after the one before. */
function place(steps: readonly Step[], timeline = new Timeline()): number[] {
  let now = 0;
  return steps.map(([kind, rawMs, afterMs = 0]) => {
    now += afterMs;
    const data = Buffer.from(BYTES[kind], 'hex');
    const message = { kind: kind === 'header' ? ('video' as const) : kind, timestampMs: rawMs >>> 0, data };
    return timeline.place(message, describeMedia(message), now).timestampMs;
  });
}

const ROWS: [name: string, steps: Step[], expected: number[], repairs: number][] = [
  [
    'the clock begins at 0',
    [
      ['video', 5000],
      ['audio', 5010],
      ['video', 5040],
    ],
    [0, 10, 40],
    0,
  ],
  [
    'tracks keep their distance',
    [
      ['video', 100],
      ['audio', 2100],
      ['video', 140],
    ],
    [0, 2000, 40],
    0,
  ],
  [
    'a track may begin before the first one',
    [
      ['video', 100],
      ['audio', 80],
      ['audio', 103],
    ],
    [0, 0, 23],
    1,
  ],
  [
    'a track that begins hours away begins now',
    [
      ['video', 0],
      ['video', 40],
      ['audio', 9e6],
    ],
    [0, 40, 40],
    1,
  ],
  [
    '32 bits wrap',
    [
      ['video', 0xffff_fff0],
      ['video', 0x10],
      ['audio', 0x15],
    ],
    [0, 32, 37],
    0,
  ],
  [
    'a gap as long as the time that passed is kept',
    [
      ['video', 0],
      ['video', 8000, 8000],
    ],
    [0, 8000],
    0,
  ],
  [
    'a jump ahead is none',
    [
      ['video', 0],
      ['video', 40],
      ['video', 90_000],
      ['video', 90_040],
    ],
    [0, 40, 80, 120],
    1,
  ],
  [
    'a step back waits',
    [
      ['video', 1000],
      ['video', 1040],
      ['video', 1020],
      ['video', 1080],
    ],
    [0, 40, 40, 80],
    1,
  ],
  [
    'a clock set back goes on',
    [
      ['video', 90_000],
      ['video', 90_040],
      ['video', 0],
      ['video', 40],
    ],
    [0, 40, 80, 120],
    1,
  ],
  [
    'both tracks jump and stay together',
    [
      ['video', 0],
      ['audio', 10],
      ['video', 40],
      ['audio', 33],
      ['video', 70_080],
      ['audio', 70_056],
      ['audio', 70_079],
    ],
    [0, 10, 40, 33, 80, 56, 79],
    2,
  ],
  [
    'a configuration stamped 0 moves nothing',
    [
      ['header', 0],
      ['video', 7000],
      ['header', 0],
      ['video', 7040],
    ],
    [0, 0, 0, 40],
    0,
  ],
  [
    'data moves nothing',
    [
      ['data', 0],
      ['video', 7000],
      ['video', 7040],
      ['data', 9e6],
    ],
    [0, 0, 40, 40],
    0,
  ],
];

test('timestamps become the clock of the broadcast', () => {
  for (const [name, steps, expected, repairs] of ROWS) {
    const timeline = new Timeline();
    assert.deepEqual(place(steps, timeline), expected, name);
    assert.equal(timeline.repairs, repairs, name);
  }
});

test('another publisher continues at the end of the one before', () => {
  const timeline = new Timeline();
  assert.deepEqual(
    place(
      [
        ['video', 0],
        ['audio', 0],
        ['video', 40],
        ['audio', 23],
      ],
      timeline,
    ),
    [0, 0, 40, 23],
  );
  timeline.restart();
  assert.deepEqual(
    place(
      [
        ['header', 0],
        ['video', 500],
        ['audio', 490],
        ['video', 540],
      ],
      timeline,
    ),
    [80, 80, 80, 120],
  );
});

const steps = fc.array(
  fc.tuple(
    fc.constantFrom('audio' as const, 'video' as const, 'header' as const, 'data' as const),
    fc.oneof(fc.nat({ max: 2 ** 32 - 1 }), fc.nat({ max: 5_000 })),
    fc.nat({ max: 1_000 }),
  ),
  { maxLength: 60 },
);

test('whatever a publisher sends, no track goes back or leaps', () => {
  fc.assert(
    fc.property(steps, (sent) => {
      const positions = place(sent);
      for (const kind of ['audio', 'video']) {
        const own = positions.filter((_, index) => sent[index]?.[0] === kind);
        for (const [index, at] of own.entries()) {
          const before = own[index - 1] ?? 0;
          assert.ok(at >= before, `${kind} went back from ${before} to ${at}`);
        }
      }
      const waited = sent.reduce((sum, [, , afterMs]) => sum + afterMs, 0);
      assert.ok(Math.max(0, ...positions) <= sent.length * 3_000 + waited + 10_000);
    }),
    { seed: 1, numRuns: 2_000 },
  );
});

test("the start of the publisher's clock makes no difference", () => {
  fc.assert(
    fc.property(steps, fc.nat({ max: 2 ** 32 - 1 }), (sent, shift) => {
      const media = sent.filter(([kind]) => kind === 'audio' || kind === 'video');
      const shifted = media.map(([kind, rawMs, afterMs]): Step => [kind, rawMs + shift, afterMs]);
      assert.deepEqual(place(shifted), place(media));
    }),
    { seed: 2, numRuns: 1_000 },
  );
});
