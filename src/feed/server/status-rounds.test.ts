import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RecordedStatus } from '#db/tables/edges.ts';
import type { EdgeStatus } from '#model/edge.ts';
import { createStatusRounds } from './status-rounds.ts';

describe('rounds of reports', () => {
  test('reports that arrive during a round are recorded together by the next one', async () => {
    const { rounds, calls } = heldRounds();
    const first = rounds.record(report('a'), 1);
    await until(calls, 1);
    const others = ['b', 'c', 'd'].map((edge) => rounds.record(report(edge), 1));
    calls[0]?.settle(['recorded']);
    assert.equal(await first, 'recorded');
    await until(calls, 2);
    calls[1]?.settle(['recorded', 'superseded', 'unknownPlace']);
    assert.deepEqual(await Promise.all(others), ['recorded', 'superseded', 'unknownPlace']);
    assert.deepEqual(
      calls.map(({ edges }) => edges),
      [['a'], ['b', 'c', 'd']],
    );
  });

  test('two reports of one edge are recorded in their order, in rounds of their own', async () => {
    const { rounds, calls } = heldRounds();
    const all = [report('a', 1), report('b', 1), report('a', 2), report('a', 3)].map((each) => rounds.record(each, 1));
    for (const [n, outcomes] of [['recorded', 'recorded'], ['recorded'], ['superseded']].entries()) {
      await until(calls, n + 1);
      calls[n]?.settle(outcomes as RecordedStatus[]); // `as`: words of the table above
    }
    assert.deepEqual(await Promise.all(all), ['recorded', 'recorded', 'recorded', 'superseded']);
    assert.deepEqual(
      calls.map(({ revisions }) => revisions),
      [[1, 1], [2], [3]],
    );
  });

  test('a round has a bounded number of reports and of characters', async () => {
    const { rounds, calls } = heldRounds();
    const MIB = 1024 * 1024;
    const table = [
      ...Array.from({ length: 501 }, () => 1),
      ...[3, 3, 9, 1].map((mib) => mib * MIB), // one that is larger than a round has one of its own
    ];
    const all = table.map((chars, n) => rounds.record(report(`e${n}`), chars));
    const sizes = [];
    for (let n = 0; n < 4; n += 1) {
      await until(calls, n + 1);
      const { edges = [] } = calls[n] ?? {};
      sizes.push(edges.length);
      calls[n]?.settle(edges.map(() => 'recorded'));
    }
    assert.deepEqual(
      await Promise.all(all),
      table.map(() => 'recorded'),
    );
    assert.deepEqual(sizes, [500, 2, 2, 1]);
  });

  test('reports beyond the limit are refused, and the others are recorded', async () => {
    const { rounds, calls } = heldRounds();
    const waiting = Array.from({ length: 10_000 }, (_, n) => rounds.record(report(`e${n}`), 1));
    assert.equal(await rounds.record(report('late'), 1), 'crowded');
    let answered = 0;
    for (const one of waiting) void one.then(() => (answered += 1));
    for (let n = 0; n < 20; n += 1) {
      await until(calls, n + 1);
      calls[n]?.settle(calls[n]?.edges.map(() => 'recorded') ?? []);
    }
    await Promise.all(waiting);
    assert.equal(answered, 10_000);
    const large = rounds.record(report('large'), 64 * 1024 * 1024);
    assert.equal(await rounds.record(report('small'), 1), 'crowded');
    await until(calls, 21);
    calls[20]?.settle(['recorded']);
    assert.equal(await large, 'recorded');
  });

  test('a report that cannot be recorded fails alone, unless the database is away', async () => {
    const tried: string[][] = [];
    const rounds = createStatusRounds({
      record: async (statuses) => {
        const edges = statuses.map(({ edge }) => edge);
        tried.push(edges);
        if (edges.includes('bad')) throw new Error('not a number');
        if (edges.includes('away')) throw new Error('away');
        return edges.map(() => 'recorded');
      },
      isAway: (error) => error instanceof Error && error.message === 'away',
    });
    const outcomes = await Promise.allSettled(['a', 'bad', 'b'].map((edge) => rounds.record(report(edge), 1)));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(tried.splice(0), [['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
    const lost = await Promise.allSettled(['c', 'away'].map((edge) => rounds.record(report(edge), 1)));
    assert.deepEqual(
      lost.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.deepEqual(tried, [['c', 'away']]);
  });
});

function report(edge: string, revision = 1): EdgeStatus {
  const at = { epoch: 'e', revision, tag: 't' };
  return { edge, at, appliedRevision: revision, rejected: [], build: 'b', startedAt: 1, origins: [] };
}

interface Call {
  readonly edges: readonly string[];
  readonly revisions: readonly number[];
  settle(outcomes: readonly RecordedStatus[]): void;
}

/** Rounds whose calls are settled by the test. */
function heldRounds() {
  const calls: Call[] = [];
  const rounds = createStatusRounds({
    record: (statuses) => {
      const { promise, resolve } = Promise.withResolvers<readonly RecordedStatus[]>();
      calls.push({
        edges: statuses.map(({ edge }) => edge),
        revisions: statuses.map(({ appliedRevision }) => appliedRevision),
        settle: resolve,
      });
      return promise;
    },
    isAway: () => false,
  });
  return { rounds, calls };
}

async function until(calls: readonly Call[], count: number): Promise<void> {
  while (calls.length < count) await new Promise((resolve) => setImmediate(resolve));
}
