/** The engine before carriers that do what a test says. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import type { Db } from '#db/open.ts';
import { ALONE, type Controls } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger, type Logger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { type ConnectorSettings, SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import type { ConnectCarrier } from '#sms/carrier.ts';
import { type SmsEngine, startSmsEngine } from '#sms/engine.ts';
import { DEFAULT_WAITS, type SmsWaits } from '#sms/sweeper.ts';
import type { NewDatabase } from '../db/databases.ts';
import { eventually } from '../eventually.ts';
import { connectScripted, ScriptedCarrier } from './scripted-carrier.ts';
import { openSmsDatabase, readParts, testRing } from './sms-queue.ts';

type Cleanup = Parameters<NewDatabase>[0];

export interface EngineWorld {
  readonly db: Db;
  readonly a: ScriptedCarrier;
  readonly b: ScriptedCarrier;
  readonly ring: Keyring;
  /** `connect`: in place of the scripted carriers. */
  start(options?: {
    owner?: string;
    waits?: SmsWaits;
    registry?: Registry;
    peers?: Controls;
    connect?: ConnectCarrier<ConnectorSettings>;
    log?: Logger;
  }): Promise<SmsEngine>;
}

/** Connectors `a` and `b`, and a route of every number to them in that order. */
export async function openEngineWorld(
  t: Cleanup,
  newDatabase: NewDatabase,
  partsPerSecond?: number,
): Promise<EngineWorld> {
  const db = await openSmsDatabase(await newDatabase(t));
  const engines: SmsEngine[] = [];
  t.after(async () => {
    for (const engine of engines) await engine.stop(0);
    await db[Symbol.asyncDispose]();
  });
  const ring = testRing();
  const [a, b] = [new ScriptedCarrier(), new ScriptedCarrier()];
  await db.transaction(async (trx) => {
    const connectorIds: number[] = [];
    for (const name of ['a', 'b']) {
      const settings: SmppSettings = {
        ...SMPP_DEFAULTS,
        ...{ kind: 'smpp', host: '127.0.0.1', port: 1, systemId: name, password: 'secret' },
      };
      const row = { name, enabled: true, settings, ...(partsPerSecond !== undefined && { partsPerSecond }) };
      connectorIds.push(await saveConnector(trx, ring, row, 1));
    }
    await saveRoute(trx, { prefix: '', connectorIds });
  });
  const start: EngineWorld['start'] = async ({
    owner = randomUUID(),
    waits = DEFAULT_WAITS,
    registry = new Registry(),
    peers = ALONE,
    connect = connectScripted({ a, b }),
    log = createLogger({ level: 'silent', name: 'test' }),
  } = {}) => {
    const engine = await startSmsEngine({
      ...{ db, ring, owner, waits, registry, peers, chargeAt: 'submit', connect },
      post: () => Promise.resolve({ kind: 'failed', reason: 'none' }),
      clock: systemClock,
      timers: systemTimers,
      random: () => 0,
      log,
    });
    engines.push(engine);
    return engine;
  };
  return { db, a, b, ring, start };
}

export async function untilStates(db: Db, ...expected: string[]): Promise<void> {
  await eventually(`the parts are ${expected}`, async () => {
    assert.deepEqual(
      (await readParts(db)).map(({ state }) => state),
      expected,
    );
    return true;
  });
}
