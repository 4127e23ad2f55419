/** Random visits to twins: requests on a few connections, and what happens between them. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { createAuthority } from '../../certificates/certificate.ts';
import { SITE_HOST } from '../edge.ts';
import { anyChange, anyRules, WILD_NAME } from './twin-changes.ts';
import type { Approach } from './twin-clients.ts';
import { anyOddity, FOREIGN_HOST, OTHER_HOST, oddOf, regulars, type TwinRequest, WILD_HOST } from './twin-requests.ts';
import { type TwinAuthority, Twins } from './twins.ts';

interface CompareOptions {
  readonly runs: number;
  /** Steps of one run. */
  readonly steps: number;
  readonly seed: number;
  /** Whether the shortest list of steps is looked for that fails, which takes long. */
  readonly shrinks?: boolean;
}

export interface Compared {
  requests: number;
  /** Answers that were ready. */
  prepared: number;
}

const anyApproach = (transports: readonly Approach['transport'][], names: readonly string[]): fc.Arbitrary<Approach> =>
  fc.record({
    transport: fc.constantFrom(...transports),
    from: fc.constantFrom('127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.3'),
    behind: fc.constantFrom('198.51.100.7', '127.0.0.3'),
    serverName: fc.constantFrom(...names),
  });

/** Connections side by side: what one of them has taught, the others are given. */
const anyApproaches = fc.tuple(
  anyApproach(['plain'], [SITE_HOST]),
  anyApproach(['tls', 'tls', 'h2'], [SITE_HOST]),
  anyApproach(['plain', 'tls', 'tls', 'h2', 'h2'], [SITE_HOST, OTHER_HOST, WILD_HOST, FOREIGN_HOST, FOREIGN_HOST]),
);
const PLACES = [0, 1, 2] as const;
const anyPlace = fc.constantFrom(...PLACES);
const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('odd' as const),
      place: anyPlace,
      oddities: fc.array(anyOddity, { minLength: 1, maxLength: 3 }),
      cuts: fc.oneof(fc.constant([]), fc.array(fc.nat(10_000), { maxLength: 3 })),
    }),
  },
  { weight: 4, arbitrary: anyChange.map((change) => ({ kind: 'change', change }) as const) },
  { weight: 1, arbitrary: anyPlace.map((place) => ({ kind: 'close', place }) as const) },
);
const anyVisit = (steps: number) =>
  fc.record({
    regulars,
    rules: anyRules,
    approaches: anyApproaches,
    list: fc.array(anyStep, { minLength: steps, maxLength: steps }),
  });

export async function compareTwins(
  t: Pick<TestContext, 'after'>,
  { runs, steps, seed, shrinks = false }: CompareOptions,
): Promise<Compared> {
  const authority = issueAll(t);
  const compared: Compared = { requests: 0, prepared: 0 };
  const property = fc.asyncProperty(anyVisit(steps), async (visit) => {
    const cleanups: (() => unknown)[] = [];
    // `as`: what is started ends without looking at the test.
    const after = ((work: () => unknown) => void cleanups.push(work)) as TestContext['after'];
    const twins = await Twins.start({ after }, authority);
    try {
      compared.requests += await pay(twins, visit);
      const [ready, none] = await twins.prepared();
      assert.equal(none, 0);
      compared.prepared += ready;
    } finally {
      twins.end();
      for (const cleanup of cleanups.reverse()) await cleanup();
    }
  });
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: !shrinks });
  return compared;
}

/** Requests the regular answers on each connection between all steps. Returns the number of requests. */
async function pay(twins: Twins, { regulars: asked, rules, approaches, list }: Visit): Promise<number> {
  let requests = 0;
  const send = async (place: number, some: readonly TwinRequest[], cuts: readonly number[] = []) => {
    const approach = approaches[place];
    if (approach === undefined) return;
    requests += some.length;
    await twins.send(place, approach, some, canBeCut(some) ? cuts : []);
  };
  const askAgain = async (times: number) => {
    // Who is answered 304 by a miss has its answer before the body is stored: the next one must not find it on its way.
    const areAtOnce = !asked.some(({ fields }) => fields.some(({ name }) => name.startsWith('If-')));
    const sendings = areAtOnce ? [asked] : asked.map((one) => [one]);
    for (let i = 0; i < times; i++) for (const place of PLACES) for (const some of sendings) await send(place, some);
  };
  twins.change(rules);
  await askAgain(2);
  for (const step of list) {
    switch (step.kind) {
      case 'change':
        twins.change(step.change);
        await askAgain(step.change.kind === 'advance' ? 1 : 2);
        break;
      case 'close':
        await twins.close(step.place);
        break;
      case 'odd':
        for (const oddity of step.oddities) await send(step.place, [oddOf(asked, oddity), ...asked], step.cuts);
    }
  }
  return requests;
}

type Visit = ReturnType<typeof anyVisit> extends fc.Arbitrary<infer T> ? T : never;

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
