/** The documents for developers name files, tables and states as they are. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { TABLE_NAMES } from '#db/export/tables.ts';
import { nextPartState, PART_STATES, type PartEvent } from '#model/sms-part.ts';

const ROOT = join(import.meta.dirname, '../..');
const EVENTS = {
  claim: true,
  accept: true,
  simulate: true,
  refuse: true,
  postpone: true,
  lose: true,
  deliver: true,
  undeliver: true,
  expire: true,
  giveUp: true,
  optOut: true,
} satisfies Record<PartEvent, true>;

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe('documents for developers', () => {
  test('every file that docs/development names exists', () => {
    const named = globSync('docs/development/*.md', { cwd: ROOT }).flatMap((file) =>
      [...read(file).matchAll(/`((?:src|test|docs|bench)\/[\w./-]*)`/g)].map(([, path = '']) => [file, path] as const),
    );
    assert.ok(named.length > 60);
    assert.deepEqual(
      named.filter(([, path]) => !existsSync(join(ROOT, path))),
      [],
    );
  });

  test('ARCHITECTURE.md names every table of the database, and no other', () => {
    const [, diagram = '', prose = ''] = /erDiagram\n(.*?)```(.*?)\n## /s.exec(read('ARCHITECTURE.md')) ?? [];
    const drawn = [...diagram.matchAll(/^ {2}(\w+) \S+ (\w+) :/gm)].flatMap(([, a = '', b = '']) => [a, b]);
    const listed = [...prose.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
    assert.deepEqual([...new Set([...drawn, ...listed])].toSorted(), TABLE_NAMES.toSorted());
  });

  test('ARCHITECTURE.md draws every transition of an SMS part, and no other', () => {
    const drawn = [...read('ARCHITECTURE.md').matchAll(/^ {2}(\w+) --> (\w+):/gm)].map(
      ([, from, to]) => `${from} ${to}`,
    );
    const possible = PART_STATES.flatMap((from) =>
      Object.keys(EVENTS).flatMap((event) => {
        const to = nextPartState(from, event as PartEvent); // the keys are those of EVENTS
        return to === undefined ? [] : [`${from} ${to}`];
      }),
    );
    assert.deepEqual(drawn.toSorted(), [...new Set(possible)].toSorted());
  });
});
