import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SinkAnswer, sinkFateOf } from './post.ts';

const answered = (status: number, retryAfterMs?: number): SinkAnswer => {
  return { kind: 'answered', status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
};

test('a post is sent, halved, repeated or dropped, by its answer', () => {
  const first = { records: 10, refusals: 0, failures: 1, random: 1 };
  const rows: readonly (readonly [SinkAnswer, Partial<typeof first>, string])[] = [
    [answered(200), {}, 'sent'],
    [answered(204), {}, 'sent'],
    [answered(413), {}, 'halved'],
    [answered(413), { records: 1 }, 'retried 1000 413'],
    [answered(413), { records: 1, refusals: 2 }, 'dropped 413'],
    [answered(408), {}, 'retried 1000 408'],
    [answered(429), { failures: 3 }, 'retried 4000 429'],
    [answered(429, 7_000), {}, 'retried 7000 429'],
    [answered(503, 9e9), {}, 'retried 3600000 503'],
    [answered(500), { failures: 99 }, 'retried 60000 500'],
    [answered(500), { refusals: 99, random: 0 }, 'retried 500 500'],
    [{ kind: 'failed', reason: 'timeout' }, {}, 'retried 1000 timeout'],
    [answered(400), {}, 'retried 1000 400'],
    [answered(401, 7_000), { refusals: 1 }, 'retried 1000 401'],
    [answered(400), { refusals: 2 }, 'dropped 400'],
    [answered(301), { refusals: 2 }, 'dropped 301'],
  ];
  for (const [answer, more, expected] of rows) {
    const fate = sinkFateOf(answer, { ...first, ...more });
    const { kind, delayMs, reason } = { delayMs: undefined, reason: undefined, ...fate };
    assert.equal([kind, delayMs, reason].filter((word) => word !== undefined).join(' '), expected);
  }
});
