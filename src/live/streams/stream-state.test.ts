import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  decideStream,
  IDLE,
  STREAM_LIMITS,
  type StreamDecision,
  type StreamEvent,
  type StreamState,
} from './stream-state.ts';

const LIMITS = STREAM_LIMITS;
const T = 1_000_000;
const publisher = (id: number) => ({ id, source: 'publish' as const, address: `192.0.2.${id}` });
const pull = (id: number) => ({ id, source: 'origin' as const, address: 'origin.example' });
const OPEN = { isForbidden: false, isOpen: true, kicked: '', disowned: '' };

type Step = readonly [afterMs: number, event: StreamEvent];
const publish = (id: number, isForbidden = false): StreamEvent => ({
  kind: 'publish',
  holder: publisher(id),
  isForbidden,
});
const pulled = (id: number): StreamEvent => ({ kind: 'publish', holder: pull(id), isForbidden: false });
const media = (holder: number, broadcast = 'b1'): StreamEvent => ({ kind: 'media', holder, broadcast });
const gone = (holder: number, isClean = false): StreamEvent => ({ kind: 'gone', holder, isClean });
const tick = (unwatchedSince?: number): StreamEvent => ({ kind: 'tick', unwatchedSince });
const rules = (changed: Partial<typeof OPEN>): StreamEvent => ({ kind: 'rules', rules: { ...OPEN, ...changed } });

/** A stream on air since T whose last media arrived at T. */
const LIVE: readonly Step[] = [
  [0, publish(1)],
  [0, media(1)],
];
const BROKEN: readonly Step[] = [...LIVE, [1000, gone(1)]];
const PULLED: readonly Step[] = [
  [0, pulled(1)],
  [0, media(1)],
];

interface Row {
  readonly name: string;
  readonly steps: readonly Step[];
  /** The effects of the last step, abbreviated. */
  readonly effects: readonly string[];
  /** The state and its holder: `idle`, `held`, `live b1` or `grace b1`. */
  readonly state: string;
}

const ROWS: readonly Row[] = [
  { name: 'a publish is accepted', steps: [[0, publish(1)]], effects: ['accept'], state: 'held by 1' },
  { name: 'the first media begins a broadcast', steps: LIVE, effects: ['began b1'], state: 'live b1 by 1' },
  { name: 'more media changes nothing', steps: [...LIVE, [40, media(1, 'b2')]], effects: [], state: 'live b1 by 1' },
  {
    name: 'a publisher without media keeps its time',
    steps: [
      [0, publish(1)],
      [4_999, tick()],
    ],
    effects: [],
    state: 'held by 1',
  },
  {
    name: 'a publisher without media is closed after 5 s, and nothing was on air',
    steps: [
      [0, publish(1)],
      [5_000, tick()],
    ],
    effects: ['cut 1 noMedia'],
    state: 'idle',
  },
  {
    name: 'a publisher without media may leave',
    steps: [
      [0, publish(1)],
      [10, gone(1)],
    ],
    effects: [],
    state: 'idle',
  },
  {
    name: 'a clean end ends the broadcast now',
    steps: [...LIVE, [700, gone(1, true)]],
    effects: ['ended b1 unpublished +700'],
    state: 'idle',
  },
  { name: 'a lost socket is waited for', steps: BROKEN, effects: ['broke'], state: 'grace b1' },
  { name: 'media from one that is gone is dropped', steps: [...BROKEN, [1, media(1)]], effects: [], state: 'grace b1' },
  {
    name: 'a publisher is not cut before 15 s of silence',
    steps: [...LIVE, [14_999, tick()]],
    effects: [],
    state: 'live b1 by 1',
  },
  {
    name: '15 s of silence cut the publisher, and the broadcast waits',
    steps: [...LIVE, [15_000, tick()]],
    effects: ['cut 1 silent', 'broke'],
    state: 'grace b1',
  },
  { name: 'the grace lasts 10 s', steps: [...BROKEN, [9_999, tick()]], effects: [], state: 'grace b1' },
  {
    name: 'the broadcast ends with its last media after the grace',
    steps: [...BROKEN, [10_000, tick()]],
    effects: ['ended b1 lost +0'],
    state: 'idle',
  },
  {
    name: 'a publish within the grace is accepted',
    steps: [...BROKEN, [9_000, publish(2)]],
    effects: ['accept'],
    state: 'grace b1 by 2',
  },
  {
    name: 'media of a publish within the grace continues the same broadcast',
    steps: [...BROKEN, [9_000, publish(2)], [500, media(2, 'b2')]],
    effects: ['resumed'],
    state: 'live b1 by 2',
  },
  {
    name: 'a publish within the grace whose media comes after it begins another broadcast',
    steps: [...BROKEN, [9_000, publish(2)], [1_000, tick()], [10, media(2, 'b2')]],
    effects: ['began b2'],
    state: 'live b2 by 2',
  },
  {
    name: 'a publish within the grace that leaves without media does not extend the grace',
    steps: [...BROKEN, [9_000, publish(2)], [500, gone(2)], [500, tick()]],
    effects: ['ended b1 lost +0'],
    state: 'idle',
  },
  {
    name: 'a clean end of a publisher without media does not end the broken broadcast',
    steps: [...BROKEN, [100, publish(2)], [100, gone(2, true)]],
    effects: [],
    state: 'grace b1',
  },
  {
    name: 'a second publish is refused while the first is healthy',
    steps: [...LIVE, [5_000, publish(2)]],
    effects: ['refuse busy'],
    state: 'live b1 by 1',
  },
  {
    name: 'a second publish is refused while the first may still send its first media',
    steps: [
      [0, publish(1)],
      [4_000, publish(2)],
    ],
    effects: ['refuse busy'],
    state: 'held by 1',
  },
  {
    name: 'a second publish takes over from one that was silent for more than 5 s',
    steps: [...LIVE, [5_001, publish(2)]],
    effects: ['cut 1 silent', 'broke', 'accept'],
    state: 'grace b1 by 2',
  },
  {
    name: 'a publisher that takes over continues the broadcast',
    steps: [...LIVE, [5_001, publish(2)], [100, media(2, 'b2')]],
    effects: ['resumed'],
    state: 'live b1 by 2',
  },
  {
    name: 'the end of the replaced publisher means nothing',
    steps: [...LIVE, [5_001, publish(2)], [10, gone(1)]],
    effects: [],
    state: 'grace b1 by 2',
  },
  {
    name: 'forbid while live cuts at once and ends now',
    steps: [...LIVE, [300, rules({ isForbidden: true })]],
    effects: ['cut 1 forbidden', 'ended b1 forbidden +300'],
    state: 'idle',
  },
  {
    name: 'forbid in the grace ends now',
    steps: [...BROKEN, [300, rules({ isForbidden: true })]],
    effects: ['ended b1 forbidden +1300'],
    state: 'idle',
  },
  {
    name: 'forbid cuts a publisher that has not sent media',
    steps: [
      [0, publish(1)],
      [1, rules({ isForbidden: true })],
    ],
    effects: ['cut 1 forbidden'],
    state: 'idle',
  },
  { name: 'forbid of a name never seen', steps: [[0, rules({ isForbidden: true })]], effects: [], state: 'idle' },
  { name: 'publish while paused', steps: [[0, publish(1, true)]], effects: ['refuse forbidden'], state: 'idle' },
  {
    name: 'a publish right after forbid is refused',
    steps: [...LIVE, [1, rules({ isForbidden: true })], [1, publish(2, true)]],
    effects: ['refuse forbidden'],
    state: 'idle',
  },
  {
    name: 'a publish is accepted after resume',
    steps: [...LIVE, [1, rules({ isForbidden: true })], [1, rules({})], [1, publish(2)]],
    effects: ['accept'],
    state: 'held by 2',
  },
  {
    name: 'kick cuts the publisher of that broadcast',
    steps: [...LIVE, [5, rules({ kicked: 'b1' })]],
    effects: ['cut 1 kicked', 'ended b1 kicked +5'],
    state: 'idle',
  },
  {
    name: 'kick of an earlier broadcast means nothing',
    steps: [...LIVE, [5, rules({ kicked: 'b0' })]],
    effects: [],
    state: 'live b1 by 1',
  },
  {
    name: 'a publisher may come back after a kick',
    steps: [...LIVE, [5, rules({ kicked: 'b1' })], [5, publish(2)], [5, media(2, 'b2')], [5, rules({ kicked: 'b1' })]],
    effects: [],
    state: 'live b2 by 2',
  },
  {
    name: 'a domain that closes cuts at once',
    steps: [...LIVE, [5, rules({ isOpen: false })]],
    effects: ['cut 1 closed', 'ended b1 closed +5'],
    state: 'idle',
  },
  {
    name: 'a domain that opens again accepts publishers again',
    steps: [...LIVE, [5, rules({ isOpen: false })], [5, rules({})], [5, publish(2)]],
    effects: ['accept'],
    state: 'held by 2',
  },
  {
    name: 'a stream owned by another live process is cut',
    steps: [...LIVE, [5, rules({ disowned: 'b1' })]],
    effects: ['cut 1 replaced', 'ended b1 replaced +5'],
    state: 'idle',
  },
  { name: 'a pull begins a broadcast too', steps: PULLED, effects: ['began b1'], state: 'live b1 by 1' },
  {
    name: 'a pull does not displace a publisher',
    steps: [...LIVE, [60_000, pulled(2)]],
    effects: ['refuse busy'],
    state: 'live b1 by 1',
  },
  {
    name: 'a local publisher replaces a pull',
    steps: [...PULLED, [5, publish(2)]],
    effects: ['cut 1 replaced', 'ended b1 replaced +5', 'accept'],
    state: 'held by 2',
  },
  {
    name: 'a pull that failed everywhere ends with its last media',
    steps: [...PULLED, [500, media(1)], [3_000, gone(1)]],
    effects: ['ended b1 lost +500'],
    state: 'idle',
  },
  {
    name: 'a pull looks for the next origin by itself',
    steps: [...PULLED, [60_000, tick()]],
    effects: [],
    state: 'live b1 by 1',
  },
  {
    name: 'a pulled stream is kept for 15 s without viewers',
    steps: [...PULLED, [5_000, media(1)], [14_999, media(1)], [0, tick(T + 5_000)]],
    effects: [],
    state: 'live b1 by 1',
  },
  {
    name: 'a pulled stream without viewers for 15 s is stopped',
    steps: [...PULLED, [5_000, media(1)], [15_000, media(1)], [0, tick(T + 5_000)]],
    effects: ['cut 1 unwatched', 'ended b1 unwatched +20000'],
    state: 'idle',
  },
  {
    name: 'a published stream needs no viewers',
    steps: [...LIVE, [60_000, media(1)], [0, tick(T)]],
    effects: [],
    state: 'live b1 by 1',
  },
  {
    name: 'the end of the process ends what is on air, with a reason of its own',
    steps: [...LIVE, [400, { kind: 'stop' }]],
    effects: ['cut 1 stopping', 'ended b1 stopped +400'],
    state: 'idle',
  },
  {
    name: 'the end of the process while a broadcast waits for its lost publisher ends it with its last media',
    steps: [...LIVE, [300, media(1)], [100, gone(1)], [400, { kind: 'stop' }]],
    effects: ['ended b1 lost +300'],
    state: 'idle',
  },
];

describe('a stream', () => {
  for (const { name, steps, effects, state } of ROWS) {
    test(`state of a stream: ${name}`, () => {
      let now = T;
      let decision: StreamDecision = { state: IDLE, effects: [] };
      for (const [afterMs, event] of steps) {
        now += afterMs;
        decision = decideStream(decision.state, event, now, LIMITS);
      }
      assert.deepEqual(decision.effects.map(showEffect), effects);
      assert.equal(showState(decision.state), state);
    });
  }

  test('a broadcast keeps its begin and its last media', () => {
    const begun = run([...LIVE, [100, media(1)]]);
    assert.deepEqual(begun.onAir, {
      broadcast: 'b1',
      startedAt: T,
      lastMediaAt: T + 100,
      source: 'publish',
      address: '192.0.2.1',
    });
    const resumed = run([...BROKEN, [10, publish(2)], [10, media(2)]]);
    assert.deepEqual([resumed.onAir?.startedAt, resumed.onAir?.address], [T, '192.0.2.2']);
    // Each frame would be a new state: it is noted ten times a second.
    assert.equal(run([...LIVE, [99, media(1)]]).onAir?.lastMediaAt, T);
    assert.equal(run([...LIVE, [99, media(1)], [1, media(1)]]).onAir?.lastMediaAt, T + 100);
  });
});

// ossrs/srs#4480, #4497, #4173; illuspas/Node-Media-Server#381
test('a stream is busy only while a publisher sends, and ends soon after all publishers are silent', () => {
  const event = fc.oneof(
    fc.integer({ min: 1, max: 4 }).map((id) => publish(id)),
    fc.integer({ min: 1, max: 4 }).map((id) => pulled(id)),
    fc.integer({ min: 1, max: 4 }).map((id) => media(id, `b${id}`)),
    fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()).map(([id, isClean]) => gone(id, isClean)),
    fc.constantFrom(tick(), tick(T), rules({}), rules({ isForbidden: true }), rules({ kicked: 'b1' })),
  );
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), event), { maxLength: 30 });
  fc.assert(
    fc.property(steps, (taken) => {
      const past = taken.reduce((sum, [afterMs]) => sum + afterMs, 0);
      const state = run(taken);
      const isRefused = (afterMs: number) =>
        decideStream(state, publish(9), T + past + afterMs, LIMITS).effects.some(({ kind }) => kind === 'refuse');
      if (state.holder?.source !== 'publish') assert.equal(isRefused(0), false);
      assert.equal(isRefused(LIMITS.takeoverMs + 1), false);
      // A pull ends by itself: it says that it is gone.
      const left: Step[] = state.holder?.source === 'origin' ? [[0, gone(state.holder.id)]] : [];
      assert.equal(run([...taken, ...left, [LIMITS.silenceMs, tick()], [LIMITS.graceMs, tick()]]), IDLE);
    }),
    { seed: 16, numRuns: 2_000 },
  );
});

function run(steps: readonly Step[]): StreamState {
  let now = T;
  let state = IDLE;
  for (const [afterMs, event] of steps) {
    now += afterMs;
    state = decideStream(state, event, now, LIMITS).state;
  }
  return state;
}

function showEffect(effect: StreamDecision['effects'][number]): string {
  switch (effect.kind) {
    case 'began':
      return `began ${effect.onAir.broadcast}`;
    case 'ended':
      return `ended ${effect.broadcast} ${effect.reason} +${effect.at - T}`;
    case 'cut':
      return `cut ${effect.holder} ${effect.reason}`;
    case 'refuse':
      return `refuse ${effect.reason}`;
    default:
      return effect.kind;
  }
}

function showState({ holder, onAir }: StreamState): string {
  const by = holder === undefined ? '' : ` by ${holder.id}`;
  if (onAir !== undefined) return `${onAir.brokenAt === undefined ? 'live' : 'grace'} ${onAir.broadcast}${by}`;
  return holder === undefined ? 'idle' : `held${by}`;
}
