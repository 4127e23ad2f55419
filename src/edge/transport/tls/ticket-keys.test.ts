/** Ticket secrets: renewal, retention, derived keys, and the file across restarts. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createLogger } from '#lib/logger.ts';
import { readTicketSecrets, startTicketRotation } from './ticket-file.ts';
import { deriveTicketKeys, ROTATE_TICKETS_MS, rotateTicketSecrets, type TicketSecret } from './ticket-keys.ts';

const HALF = ROTATE_TICKETS_MS;
const at = (createdAt: number): TicketSecret => ({ createdAt, secret: 'aa'.repeat(32) });

describe('rotateTicketSecrets', () => {
  const rows: readonly (readonly [what: string, ages: readonly number[], now: number, after: readonly number[]])[] = [
    ['the first secret', [], 5, [5]],
    ['one secret in use', [5], HALF + 4, [5]],
    ['a secret past its time is kept for its tickets', [5], HALF + 5, [HALF + 5, 5]],
    ['two secrets in use', [HALF, 5], HALF + 6, [HALF, 5]],
    ['the oldest secret ends with its last ticket', [HALF, 5], 2 * HALF + 5, [2 * HALF + 5, HALF]],
    ['after a long stop', [HALF, 5], 9 * HALF, [9 * HALF]],
    ['a secret of a clock that was far ahead', [9 * HALF], 5, [5]],
  ];
  for (const [what, ages, now, after] of rows) {
    test(`ticket secrets rotate: ${what}`, () => {
      const secrets = ages.map(at);
      const rotated = rotateTicketSecrets(secrets, now, () => 'bb'.repeat(32));
      assert.deepEqual(
        rotated.map(({ createdAt }) => createdAt),
        after,
      );
      if (ages[0] === after[0] && ages.length === after.length) assert.equal(rotated, secrets);
    });
  }
});

test('every use and every secret has keys of its own, the same on every machine that has the secret', () => {
  const one = deriveTicketKeys(at(1), 'a 1.2');
  assert.equal(one.bytes.length, 48);
  assert.deepEqual(one, deriveTicketKeys(at(2), 'a 1.2'));
  const others = [
    deriveTicketKeys(at(1), 'b 1.2'),
    deriveTicketKeys({ createdAt: 1, secret: 'cc'.repeat(32) }, 'a 1.2'),
  ];
  for (const other of others)
    assert.ok(other.name !== one.name && !other.bytes.subarray(16).equals(one.bytes.subarray(16)));
});

test('the file of secrets is for its owner only, survives a restart, and is made anew if others could read it or it is damaged', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-tickets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'ticket-secrets');
  let now = 1000;
  const seen: (readonly TicketSecret[])[] = [];
  const start = () => {
    const log = createLogger({ level: 'silent', name: 'test' });
    using _rotation = startTicketRotation({ file, clock: () => now, log, onSecrets: (secrets) => seen.push(secrets) });
    return seen.at(-1) ?? [];
  };
  assert.deepEqual(readTicketSecrets(file), []);
  const first = start();
  assert.equal(first.length, 1);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(start(), first);
  now += HALF;
  assert.deepEqual(start().slice(1), first);
  assert.deepEqual(readTicketSecrets(file), seen.at(-1));
  chmodSync(file, 0o640);
  assert.deepEqual(readTicketSecrets(file), []);
  assert.equal(start().length, 1);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const text of ['', '{}', '[{"createdAt":1,"secret":"short"}]', 'null']) {
    writeFileSync(file, text);
    assert.deepEqual(readTicketSecrets(file), [], text);
  }
});
