/** Copies of an edge, and the end of one, at a receiver of webhooks. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OPERATOR, saveEventWebhook } from '#db/tables/events/webhooks.ts';
import { readStored, toIdentity } from '#fleet/identity.ts';
import { identityFile } from '#fleet/identity-file.ts';
import { identifyMachine } from '#fleet/machine.ts';
import { acceptEdge } from '#fleet/operate.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { startTestDeliveries } from '../support/events/deliveries.ts';
import { startReceiver } from '../support/events/receiver.ts';
import { eventually } from '../support/eventually.ts';
import { ask } from '../support/fleet/ask.ts';
import { createFleet } from '../support/fleet/fleet.ts';
import { temporaryFolder } from '../support/temporary.ts';

describeOnBothEngines('events of the fleet', (newDatabase) => {
  test('an edge that is enrolled, copied, and accepted again is told once each', async (t) => {
    const fleet = await createFleet(t, await newDatabase(t));
    const { db, ring } = fleet;
    const receiver = await startReceiver(t);
    const webhook = { url: receiver.url, secret: 'secret' };
    await db.transaction((trx) => saveEventWebhook(trx, ring, { receiver: OPERATOR, webhook, now: fleet.now }));
    startTestDeliveries(t, { db, ring, clock: () => fleet.now });
    const { identity, dataDir } = await fleet.enrol('fra1');
    const copy = join(temporaryFolder(t), 'copy');
    cpSync(dataDir, copy, { recursive: true });
    const stored = readStored(identityFile(copy));
    assert.ok(stored !== undefined);
    const copied = toIdentity({ ...stored, machine: identifyMachine(copy) });
    for (let n = 0; n < 3; n++) await assert.rejects(async () => refuseOther(await ask(fleet.control, copied)));
    const { serial } = identity;
    const accepted = { edge: 'fra1', serial, now: fleet.now, actor: 'token:0' };
    assert.equal(await acceptEdge(db, accepted), 'accepted');
    await eventually('all three came', () => receiver.accepted().length === 3);
    assert.deepEqual(receiver.accepted().toSorted(), ['edge.accept', 'edge.clone', 'edge.enrol']);
    assert.deepEqual(new Set(receiver.posted.map(({ event }) => event.target.name)), new Set(['fra1']));
  });
});

function refuseOther({ status }: { readonly status: number }): void {
  if (status !== 200) throw new Error(String(status));
}
