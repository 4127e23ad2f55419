import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseRecordingMessage } from '#feed/wire/recording-message.ts';
import { createLogger } from '#lib/logger.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { createManualTimers } from '../../../test/support/timers.ts';
import { startRecordingShipper } from './shipper.ts';
import { RecordingSpool } from './spool.ts';

const FACTS = { app: 'live', stream: 'a', broadcast: 'b1', beganAt: 1, baseMs: 0 };

test('a recording that control cannot accept delays no other, and is sent when it can be', async (t) => {
  const { timers, sent, lines, refused } = start(t, ['1.a', '2.b', '2.c', '3.d'], ['a']);
  await eventually('the others are sent', () => sent.length === 3);
  assert.deepEqual(sent.toSorted(), ['b', 'c', 'd']);
  await eventually('it waits', () => timers.size === 1);
  refused.clear();
  timers.advance(60_000);
  await eventually('it is sent', () => sent.includes('a'));
  await eventually('that is logged', () => lines.length === 2);
  assert.match(lines.join(), /cannot send a recording to control.*accepts recordings again/s);
});

test('a control that is away is asked three times in a round', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const { timers, sent, asked, refused } = start(
    t,
    names.map((name, index) => `${index}.${name}`),
    names,
  );
  await eventually('it waits', () => timers.size === 1);
  assert.equal(asked.length, 3);
  refused.clear();
  timers.advance(60_000);
  await eventually('all are sent', () => sent.length === names.length);
});

/** Starts a shipper of recordings that have ended, `<domain>.<id>`; control fails for the ids in `refused`. */
function start(t: Parameters<typeof temporaryFolder>[0], names: readonly string[], refusedIds: readonly string[]) {
  const directory = temporaryFolder(t);
  for (const name of names) {
    const [domainId, id] = name.split('.');
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'init.mp4'), 'x');
    writeFileSync(join(directory, name, 'facts.json'), JSON.stringify({ id, domainId: Number(domainId), ...FACTS }));
    writeFileSync(join(directory, name, 'end.ended'), '');
  }
  const [asked, sent, lines]: [string[], string[], string[]] = [[], [], []];
  const refused = new Set(refusedIds);
  const timers = createManualTimers();
  const shipper = startRecordingShipper({
    spool: new RecordingSpool(directory, 1_000, () => undefined),
    edge: 'edge-1',
    post: async (body) => {
      const { recording = '' } = parseRecordingMessage(body) ?? {};
      asked.push(recording);
      if (refused.has(recording)) throw new Error('503');
      sent.push(recording);
      return 'taken';
    },
    timers,
    random: () => 0.5,
    log: createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } }),
  });
  t.after(() => shipper[Symbol.asyncDispose]());
  return { timers, sent, asked, lines, refused };
}
