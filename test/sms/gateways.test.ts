/** The connectors of CMPP and SMGP with a gateway at the other end, which does what gateways should not. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { CONNECTOR_DEFAULTS, type ConnectorSettings } from '#model/sms-connector.ts';
import type { SubmitOutcome } from '#sms/carrier.ts';
import { carrierSuite, type SuiteAnswer } from '#sms/connectors/connector.suite.ts';
import { eventually } from '../support/eventually.ts';
import { connectTestCarrier, partToSubmit, type TestCarrier } from '../support/sms/carrier.ts';
import { poisonsOf } from '../support/sms/gateway-poisons.ts';
import { type GatewayAnswer, type GatewayOptions, ScriptedGateway } from '../support/sms/scripted-gateway.ts';

const KINDS = ['cmpp2', 'cmpp3', 'smgp'] as const;
type Kind = (typeof KINDS)[number];

const CMPP_RESULTS = { throttled: 8, wrongNumber: 13, wrongSettings: 7 };
const RESULTS = {
  cmpp2: CMPP_RESULTS,
  cmpp3: CMPP_RESULTS,
  smgp: { throttled: 1, wrongNumber: 47, wrongSettings: 76 },
};

for (const kind of KINDS) {
  carrierSuite(kind, {}, async (t, { answers = [], window = 10, isStranger = false, tools }) => {
    const own: Readonly<Record<SuiteAnswer, GatewayAnswer>> = {
      ...{ ok: 'ok', silence: 'silence', drop: 'drop' },
      ...RESULTS[kind],
    };
    const gateway = await new ScriptedGateway({ kind, answers: answers.map((answer) => own[answer]) }).listen(t);
    const settings = settingsOf(kind, gateway.port, { window, ...(isStranger && { password: 'guess' }) });
    const suite = {
      submits: () => gateway.submits.length,
      logins: () => gateway.accepted,
      acknowledged: () => acknowledged(gateway),
      deliver: (from: string, text: string) =>
        void gateway.deliver({ from, content: Buffer.from(text, 'utf16le').swap16() }),
      drop: () => gateway.drop(),
    };
    return { ...connectTestCarrier(t, settings, tools), gateway: suite };
  });

  describe(`the connector of ${kind}`, () => {
    test('ten malformed packets between submits and their answers cost nothing, and end no session', async (t) => {
      const poisons = Object.values(poisonsOf(kind));
      const answers = poisons.map(({ octets }) => ({ before: octets }));
      const { gateway, carrier, ends, replies, receipts, unread } = await begin(t, { kind, answers });
      for (const [n] of poisons.entries()) {
        const both = [2 * n + 1, 2 * n + 2].map((partId) => carrier.submit(partToSubmit({ partId })));
        assert.deepEqual(kindsOf(await Promise.all(both)), ['accepted', 'accepted']);
      }
      const count = (fate: string) => poisons.filter(({ becomes }) => becomes === fate).length;
      await eventually('the readable ones are stored', () => replies.length === count('reply'));
      await eventually('the others are kept as they are', () => unread.length === count('unread'));
      // The second half of the parts has receipts, too.
      const kept = count('receipt') + poisons.length;
      await eventually('so are the receipts', () => receipts.length === kept);
      await eventually('each is acknowledged', () => acknowledged(gateway) === kept + replies.length + unread.length);
      assert.deepEqual([gateway.accepted, ends], [1, []]);
    });

    test('a long message goes to a gateway that answers its parts only together', async (t) => {
      const { gateway, carrier } = await begin(t, { kind, together: 9 });
      const text = '中'.repeat(67);
      const parts = Array.from({ length: 9 }, (_, n) =>
        carrier.submit(partToSubmit({ partId: n + 1, text, part: n + 1, parts: 9, partsLeft: 8 - n })),
      );
      assert.deepEqual(new Set(kindsOf(await Promise.all(parts))), new Set(['accepted']));
      const headers = gateway.submits.map(({ content }) => content.toString('hex', 0, 6));
      assert.deepEqual(
        headers,
        Array.from({ length: 9 }, (_, n) => `05000300090${n + 1}`),
      );
      assert.ok(gateway.submits.every(({ content }) => content.length === 140));
    });

    test('several connections have a window each', async (t) => {
      const { gateway, carrier } = await begin(t, { kind, answers: Array(40).fill('silence') }, { connections: 3 });
      const submitted: Promise<SubmitOutcome>[] = [];
      const message = () => {
        for (let part = 1; part <= 9; part += 1)
          submitted.push(carrier.submit(partToSubmit({ part, parts: 9, partsLeft: 9 - part })));
      };
      // Nine are more than the seven places that a message leaves of a window.
      for (const connections of [1, 2, 3]) {
        await eventually('another connection has room', () => carrier.room === 16);
        message();
        assert.equal(carrier.inFlight, 9 * connections);
      }
      assert.equal(carrier.room, 7);
      await eventually('all are there', () => gateway.submits.length === 27);
      gateway.drop();
      assert.deepEqual(new Set(kindsOf(await Promise.all(submitted))), new Set(['uncertain']));
    });

    test('a connector is up while one of its connections is', async (t) => {
      const { gateway, carrier } = await begin(t, { kind, answers: ['drop'] }, { connections: 2 });
      await eventually('two logins', () => gateway.accepted === 2);
      assert.equal((await carrier.submit(partToSubmit())).kind, 'uncertain');
      await eventually('the other one takes parts', () => carrier.state === 'bound');
      assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
      await eventually('it is connected again', () => gateway.accepted === 3 && gateway.sessions === 2);
    });

    test('a reply in GB18030 is read', async (t) => {
      const { gateway, replies } = await begin(t, { kind });
      void gateway.deliver({ coding: 15, content: Buffer.from('cdcbb6a9', 'hex') });
      assert.equal((await eventually('the reply', () => replies[0])).text, '退订');
    });

    test('a closed connector says goodbye', async (t) => {
      const { gateway, carrier } = await begin(t, { kind });
      await carrier[Symbol.asyncDispose]();
      await eventually('the connection is closed', () => gateway.sessions === 0);
      assert.equal(gateway.byes.length, 1);
    });
  });
}

async function begin(
  t: TestContext,
  options: GatewayOptions & { readonly kind: Kind },
  settings: object = {},
): Promise<Omit<TestCarrier, 'bound'> & { readonly gateway: ScriptedGateway }> {
  const gateway = await new ScriptedGateway(options).listen(t);
  const connected = connectTestCarrier(t, settingsOf(options.kind, gateway.port, settings));
  await connected.bound();
  return { ...connected, gateway };
}

function settingsOf(kind: Kind, port: number, changed: object): ConnectorSettings {
  const carrier = { kind, host: '127.0.0.1', port, account: '900001', password: 'secret', sender: '106900001234' };
  // `as`: the defaults are those of its kind.
  return { ...CONNECTOR_DEFAULTS[kind], ...carrier, ...changed } as ConnectorSettings;
}

/** Deliveries that were answered with 0. */
function acknowledged({ options, delivered }: ScriptedGateway): number {
  const answer = options.kind === 'smgp' ? 0x80000003 : 0x80000005;
  return delivered.filter(({ id, body }) => id === answer && body.at(-1) === 0).length;
}

function kindsOf(outcomes: readonly SubmitOutcome[]): readonly string[] {
  return outcomes.map(({ kind }) => kind);
}
