/** What every connector does, whatever it speaks; and what every connector to a carrier does. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { partToSubmit, type TestCarrier } from '../../../test/support/sms/carrier.ts';
import { createManualTimers } from '../../../test/support/timers.ts';
import type { CarrierTools, SubmitOutcome } from '../carrier.ts';

/** `connect`: to somebody who takes everything. `taken`: the kind of outcome of what was taken. */
export function connectorSuite(
  name: string,
  options: { readonly skip?: string | false },
  taken: 'accepted' | 'simulated',
  connect: (t: TestContext) => Promise<TestCarrier>,
): void {
  describe(`a connector: ${name}`, options, () => {
    test('a connector is connecting at first, and has no room', async (t) => {
      const { carrier } = await connect(t);
      assert.deepEqual([carrier.state, carrier.room], ['connecting', 0]);
      assert.equal((await carrier.submit(partToSubmit())).kind, 'unsent');
    });

    test('a connector accepts as many parts as it has room for, settles each once, and reports when there is room', async (t) => {
      const { carrier, bound, states, roomFreed } = await connect(t);
      await bound();
      assert.deepEqual([sinceBound(states), roomFreed()], [['bound'], 1]);
      const count = Math.min(carrier.room, 50);
      const outcomes = await Promise.all(
        Array.from({ length: count }, (_, n) => carrier.submit(partToSubmit({ partId: n + 1 }))),
      );
      assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set([taken]));
      assert.ok(carrier.room >= count);
    });

    test('a closed connector accepts nothing, and closing it again does nothing', async (t) => {
      const { carrier, bound, states } = await connect(t);
      await bound();
      await carrier[Symbol.asyncDispose]();
      await carrier[Symbol.asyncDispose]();
      assert.deepEqual([carrier.state, carrier.room, states.at(-1)], ['closed', 0, 'closed']);
      assert.equal((await carrier.submit(partToSubmit())).kind, 'unsent');
    });

    test('a connector closed before it was bound stays closed', async (t) => {
      const { carrier } = await connect(t);
      await carrier[Symbol.asyncDispose]();
      assert.equal(carrier.state, 'closed');
    });
  });
}

/** What a carrier of a test does with a submit. */
export type SuiteAnswer = 'ok' | 'throttled' | 'wrongNumber' | 'wrongSettings' | 'silence' | 'drop';

/** A carrier of a test, of any protocol. */
export interface SuiteGateway {
  /** Submits that it has read, logins that it has accepted, and deliveries that were acknowledged. */
  submits(): number;
  logins(): number;
  acknowledged(): number;
  /** Sends a message of a phone in UCS-2. */
  deliver(from: string, text: string): void;
  /** Ends every connection. */
  drop(): void;
}

interface SuiteOptions {
  /** What becomes of each submit, in their order; then `ok`. */
  readonly answers?: readonly SuiteAnswer[];
  readonly window?: number;
  /** The connector has another password than the carrier. */
  readonly isStranger?: boolean;
  readonly tools?: Partial<CarrierTools>;
}

export type BeginSuite = (
  t: TestContext,
  options: SuiteOptions,
) => Promise<TestCarrier & { readonly gateway: SuiteGateway }>;

/** `begin`: a connector of 10 parts a window, and its carrier. */
export function carrierSuite(name: string, options: { readonly skip?: string | false }, begin: BeginSuite): void {
  connectorSuite(name, options, 'accepted', (t) => begin(t, {}));

  describe(`a connector to a carrier: ${name}`, options, () => {
    test('each part has an id, by which its receipt finds it', async (t) => {
      const { carrier, bound, receipts, gateway } = await begin(t, {});
      await bound();
      const outcomes = await submitAll(carrier, 9);
      const keys = outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.keys[0] : undefined));
      assert.equal(new Set(keys).size, 9);
      await eventually('every receipt', () => receipts.length === 9);
      for (const { keys: own, state, number } of receipts) {
        assert.ok(own.some((key) => keys.includes(key)));
        assert.deepEqual([state, number], ['delivered', '+8613800138000']);
      }
      await eventually('each is acknowledged', () => gateway.acknowledged() === 9);
    });

    test('a throttled connector pauses and then takes less', async (t) => {
      const timers = createManualTimers();
      const { carrier, bound, states } = await begin(t, {
        answers: ['ok', 'throttled'],
        window: 20,
        tools: { timers },
      });
      await bound();
      assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
      assert.equal(classOf(await carrier.submit(partToSubmit())), 'throttled');
      assert.deepEqual([carrier.state, carrier.room], ['paused', 0]);
      timers.advance(1_000);
      assert.deepEqual([carrier.state, carrier.room, sinceBound(states)], ['bound', 10, ['bound', 'paused', 'bound']]);
    });

    test('refusals are told apart: of the message, and for the settings', async (t) => {
      const { carrier, bound } = await begin(t, { answers: ['wrongNumber', 'wrongSettings'] });
      await bound();
      const classes = [classOf(await carrier.submit(partToSubmit())), classOf(await carrier.submit(partToSubmit()))];
      assert.deepEqual(classes, ['permanent', 'misconfigured']);
      assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
    });

    test('a part without an answer is in doubt, and the connector pauses', async (t) => {
      const timers = createManualTimers();
      const { carrier, bound, gateway } = await begin(t, { answers: ['silence'], tools: { timers } });
      await bound();
      const silent = carrier.submit(partToSubmit());
      await eventually('it is there', () => gateway.submits() === 1);
      timers.advance(1_000);
      assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
      timers.advance(600_000);
      assert.deepEqual(await silent, { kind: 'uncertain', reason: 'timeout' });
    });

    test('parts in flight are in doubt when the connection is lost, and the next one is opened', async (t) => {
      const { carrier, bound, gateway } = await begin(t, { answers: ['silence', 'silence', 'drop'] });
      await bound();
      const outcomes = await submitAll(carrier, 3);
      assert.deepEqual(outcomes, Array(3).fill({ kind: 'uncertain', reason: 'disconnected' }));
      await eventually('it is bound again', () => gateway.logins() === 2 && carrier.state === 'bound');
      assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
      gateway.drop();
      await eventually('and again', () => gateway.logins() === 3 && carrier.state === 'bound');
    });

    test('the window bounds the parts that await an answer', async (t) => {
      const { carrier, bound, gateway } = await begin(t, { answers: Array(10).fill('silence'), window: 10 });
      await bound();
      const waiting = Array.from({ length: 10 }, () => carrier.submit(partToSubmit()));
      assert.deepEqual([carrier.room, carrier.inFlight], [0, 10]);
      assert.deepEqual(await carrier.submit(partToSubmit()), { kind: 'unsent', reason: 'bound' });
      await eventually('all are there', () => gateway.submits() === 10);
      gateway.drop();
      await Promise.all(waiting);
    });

    test('a reply arrives with its number and text', async (t) => {
      const { bound, replies, gateway } = await begin(t, {});
      await bound();
      gateway.deliver('8613800138000', '退订');
      const { origin, text, isText } = await eventually('the reply', () => replies[0]);
      assert.deepEqual([origin, text, isText], ['+8613800138000', '退订', true]);
      await eventually('it is acknowledged', () => gateway.acknowledged() === 1);
    });

    test('a delivery is acknowledged only when it is stored', async (t) => {
      const { bound, replies, gateway, failToStore, unstored } = await begin(t, {});
      await bound();
      failToStore(true);
      gateway.deliver('8613800138000', 'one');
      await eventually('it cannot be stored', () => unstored() === 1);
      failToStore(false);
      gateway.deliver('8613800138000', 'two');
      await eventually('the second is acknowledged', () => gateway.acknowledged() === 1);
      assert.deepEqual(
        replies.map(({ text }) => text),
        ['two'],
      );
    });

    test('a refused login is reported in words', async (t) => {
      const { carrier, ends } = await begin(t, { isStranger: true });
      const reason = await eventually('the refusal', () => ends[0]);
      assert.match(reason, /^the carrier refused the session: .*password/);
      assert.equal(carrier.state, 'connecting');
    });

    test('closing waits for outstanding answers', async (t) => {
      const { carrier, bound } = await begin(t, {});
      await bound();
      const part = carrier.submit(partToSubmit());
      await carrier[Symbol.asyncDispose]();
      assert.equal((await part).kind, 'accepted');
    });
  });
}

/** Returns the states from the first bind on; before it, they are also notified when receiving starts. */
function sinceBound(states: TestCarrier['states']): TestCarrier['states'] {
  return states.slice(states.indexOf('bound'));
}

function submitAll(carrier: TestCarrier['carrier'], count: number): Promise<readonly SubmitOutcome[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => carrier.submit(partToSubmit({ partId: n + 1 }))));
}

function classOf(outcome: SubmitOutcome): string {
  return outcome.kind === 'refused' ? outcome.class : outcome.kind;
}
