/** Random visits to twins: requests on a few connections, and what happens between them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { createAuthority } from './certificate.ts';
import { SITE_HOST } from './edge.ts';
import { anyChange, WILD_NAME } from './twin-changes.ts';
import type { Approach } from './twin-clients.ts';
import { anyRequest, FOREIGN_HOST, OTHER_HOST, type TwinRequest, WILD_HOST } from './twin-requests.ts';
import { type TwinAuthority, Twins } from './twins.ts';

interface CompareOptions {
  readonly runs: number;
  /** At most, of one run. */
  readonly steps: number;
  readonly seed: number;
  /** Whether the shortest list of steps is looked for that fails, which takes long. */
  readonly shrinks?: boolean;
}

export interface Compared {
  visits: number;
  requests: number;
  /** Answers that were ready. */
  prepared: number;
}

const anyApproach: fc.Arbitrary<Approach> = fc.record({
  transport: fc.constantFrom('plain', 'plain', 'tls', 'h2'),
  from: fc.constantFrom('127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.3'),
  behind: fc.constantFrom('198.51.100.7', '127.0.0.3'),
  serverName: fc.constantFrom(SITE_HOST, SITE_HOST, SITE_HOST, OTHER_HOST, WILD_HOST, FOREIGN_HOST),
});

const PLACES = 3;
const anySending = fc.record({
  place: fc.nat(PLACES - 1),
  approach: anyApproach,
  requests: fc.array(anyRequest, { minLength: 1, maxLength: 4 }),
  cuts: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.nat(10_000), { maxLength: 3 }) },
  ),
  times: fc.constantFrom(1, 2, 4),
});
const anyStep = fc.oneof(
  { weight: 6, arbitrary: anySending.map((sending) => ({ kind: 'send', sending }) as const) },
  { weight: 3, arbitrary: anyChange.map((change) => ({ kind: 'change', change }) as const) },
  { weight: 1, arbitrary: fc.nat(PLACES - 1).map((place) => ({ kind: 'close', place }) as const) },
);

export async function compareTwins(
  t: Pick<TestContext, 'after'>,
  { runs, steps, seed, shrinks = false }: CompareOptions,
): Promise<Compared> {
  const authority = issueAll(t);
  const compared: Compared = { visits: 0, requests: 0, prepared: 0 };
  const property = fc.asyncProperty(
    fc.array(anyStep, { minLength: 1, maxLength: steps, size: 'max' }),
    async (list) => {
      const cleanups: (() => unknown)[] = [];
      const twins = await Twins.start(
        { after: (cleanup) => void cleanups.push(() => cleanup?.({} as never, () => undefined)) },
        authority,
      );
      try {
        for (const step of list) {
          if (step.kind === 'change') twins.change(step.change);
          if (step.kind === 'close') await twins.close(step.place);
          if (step.kind !== 'send') continue;
          const { place, approach, requests, cuts, times } = step.sending;
          for (let i = 0; i < times; i++) await twins.send(place, approach, requests, canBeCut(requests) ? cuts : []);
          compared.requests += times * requests.length;
        }
        const [ready, none] = await twins.prepared();
        assert.equal(none, 0);
        compared.prepared += ready;
        compared.visits += 1;
      } finally {
        twins.end();
        for (const cleanup of cleanups.reverse()) await cleanup();
      }
    },
  );
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: !shrinks });
  return compared;
}

/** What comes behind an answer that ends the connection may take from the client what it has not read of it. */
function canBeCut(requests: readonly TwinRequest[]): boolean {
  return !requests.some(({ target }) => target === '/large' || target === '/big');
}

function issueAll(t: Pick<TestContext, 'after'>): TwinAuthority {
  const { ca, issue } = createAuthority(t);
  const pair = (names: readonly string[]) => {
    const { cert, key } = issue(names);
    return { certificate: cert, key };
  };
  const certificates = new Map([
    ['c1', pair([SITE_HOST, OTHER_HOST, WILD_NAME])],
    ['c2', pair([SITE_HOST])],
    ['c3', pair([FOREIGN_HOST])],
  ]);
  return { ca, certificates };
}
