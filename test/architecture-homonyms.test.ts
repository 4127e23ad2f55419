/** A name that two files of `src/` export has one meaning, or the rooms of both never meet. docs/decisions/0541 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ROOMS } from './support/docs/rooms.ts';

const SRC = join(import.meta.dirname, '../src');
const EXPORT = /^export (?:abstract )?(?:type|interface|class|const|(?:async )?function\*?) ([A-Za-z_$][\w$]*)/gm;

/** One fact that is written in several rooms, since none of them may import another. */
const SAME_FACT: Readonly<Record<string, string>> = {
  LiveEvent: "model's, and as live reads it from the type of feed's report",
  OriginTrouble: 'what the probes of an edge find, and what control keeps of its report',
  StreamName: 'domain, application and stream: live and edge may not import the model',
};

/** Terms that two protocols or rooms have in common. No room that has one may import another that has it. */
const APART: Readonly<Record<string, string>> = {
  Admission: 'of a response into the cache; of a publisher to a stream',
  answerHls: 'by an edge to a viewer; by the live process to an edge',
  Client: 'of the API; the client address and scheme of a request at an edge',
  Command: 'of RTMP; of SMPP',
  ConnectionParts: 'of a connection to an origin; of one from an encoder or player',
  errorOf: 'the failure that a response stands for; the error answer to a command of RTMP',
  Field: "of the contract's requests; of a PDU",
  Fields: "of the contract's requests; of a PDU",
  FrameReader: 'of HTTP/2; of SMPP',
  Group: 'lines of one domain and hour; repeated fields of a PDU',
  Groups: 'lines of one domain and hour; repeated fields of a PDU',
  InTurn: 'requests of a connection to control; work of a coder',
  Lane: 'viewers with one encoding; a queue that a connector serves',
  readRequest: 'of a shell command; of an encoder or player',
  Route: 'of an operation; of a number to connectors',
  Turns: 'of recordings that are shipped; of accounts on a connector',
  Waiting: 'connections that have not published or played yet; messages for a connector',
  WriterOptions: 'of a body into the cache; of a recording into its spool',
};

describe('names that several files of src export', () => {
  const files = exportedNames();

  test('each is in a list with its reason, and nothing else is', () => {
    const shared = [...files].filter(([, of]) => of.length > 1).map(([name, of]) => `${name}: ${of.join(', ')}`);
    const known = [...Object.keys(SAME_FACT), ...Object.keys(APART)];
    assert.deepEqual(
      shared.filter((line) => !known.includes(line.split(':')[0] ?? '')),
      [],
    );
    assert.deepEqual(
      known.filter((name) => (files.get(name) ?? []).length < 2),
      [],
    );
  });

  test('terms of rooms that are apart are not in one room, nor in two of which one may import the other', () => {
    const met = Object.keys(APART).flatMap((name) => {
      const rooms = (files.get(name) ?? []).map(roomOf);
      return rooms.flatMap((one, n) =>
        rooms
          .slice(n + 1)
          .filter((other) => one === other || ROOMS[one]?.includes(other) || ROOMS[other]?.includes(one))
          .map((other) => `${name}: ${one} and ${other}`),
      );
    });
    assert.deepEqual(met, []);
  });
});

/** Files below `src/` by the names that they export. */
function exportedNames(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const file of globSync('**/*.ts', { cwd: SRC }).sort()) {
    if (/\.(test|suite)\.ts$/.test(file)) continue;
    for (const [, name = ''] of readFileSync(join(SRC, file), 'utf8').matchAll(EXPORT))
      found.set(name, (found.get(name) ?? new Set()).add(file));
  }
  return new Map([...found].map(([name, of]) => [name, [...of]]));
}

function roomOf(file: string): string {
  return file.split('/')[0] ?? '';
}
