/** The directions inside a room: which of its folders may import which. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');

interface Directions {
  /** Folders from the outermost to the innermost: each imports itself, those below, and files of the room's root. */
  readonly layers: readonly (readonly string[])[];
  /** Files of the root that join the folders. Others of the root import the root and `ground`. */
  readonly joins: readonly string[];
  /** Folders that the other files of the root may import, for their types. */
  readonly ground: readonly string[];
}

const ROOMS: Readonly<Record<string, Directions>> = {
  edge: {
    layers: [
      ['transport'],
      ['shortcuts'],
      ['pipeline'],
      ['live'],
      ['fetch'],
      ['stages'],
      ['respond'],
      ['origin', 'store'],
      ['buffers'],
    ],
    joins: ['context.ts', 'server.ts'],
    ground: ['store'],
  },
  api: {
    layers: [['http'], ['calls'], ['handlers'], ['settings'], ['wire'], ['auth', 'sms']],
    joins: ['server.ts'],
    ground: [],
  },
};

describe('directions inside rooms', () => {
  for (const [room, { layers, joins, ground }] of Object.entries(ROOMS)) {
    const base = join(ROOT, 'src', room);
    const files = globSync('**/*.ts', { cwd: base }).filter((file) => !/\.(test|suite)\.ts$/.test(file));
    const rankOf = (folder: string) => layers.findIndex((layer) => layer.includes(folder));

    test(`every folder of ${room} has its place in the order`, () => {
      assert.deepEqual([...new Set(files.map(folderOf))].filter((folder) => folder !== '').toSorted(), [
        ...layers.flat().toSorted(),
      ]);
    });

    test(`files of ${room} import no folder that is further out`, () => {
      const mayImport = (file: string, target: string) => {
        const [from, to] = [folderOf(file), folderOf(target)];
        if (joins.includes(file)) return true;
        if (to === '') return target === 'context.ts' || !joins.includes(target);
        return from === to || (from === '' ? ground.includes(to) : rankOf(from) < rankOf(to));
      };
      const forbidden = files.flatMap((file) =>
        importsOf(base, file)
          .filter((target) => !mayImport(file, target))
          .map((target) => `${file} imports ${target}`),
      );
      assert.deepEqual(forbidden, []);
    });
  }
});

/** Empty for a file of the room's root. */
function folderOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : '';
}

/** Files of the same room, by their paths in it. */
function importsOf(base: string, file: string): string[] {
  const specifiers = readFileSync(join(base, file), 'utf8').matchAll(/\b(?:from|import)\b\s*\(?'(\.[^']+)'/g);
  return [...specifiers].map(([, specifier = '']) => relative(base, normalize(join(base, dirname(file), specifier))));
}
