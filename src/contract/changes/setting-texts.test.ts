import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Field } from '../schema/fields.ts';
import { TOPIC_TEXTS } from './setting-texts.ts';
import { SETTING_TOPICS, TOPIC_FIELDS } from './setting-topics.ts';
import type { SettingWords } from './setting-words.ts';

interface Named {
  readonly path: string;
  readonly field: Field;
  readonly text: SettingWords | undefined;
}

const SETTINGS = SETTING_TOPICS.flatMap((topic) => {
  const fields: Readonly<Record<string, Field>> = TOPIC_FIELDS[topic];
  const texts: Readonly<Record<string, SettingWords>> = TOPIC_TEXTS[topic].settings;
  return Object.entries(fields).flatMap(([name, field]) => withMembers(`${topic}.${name}`, field, texts[name]));
});

function withMembers(path: string, field: Field, text: SettingWords | undefined): Named[] {
  const members = Object.entries(field.members ?? {}).map(([name, member]) => ({
    path: `${path}.${name}`,
    field: member,
    text: text?.members?.[name],
  }));
  return [{ path, field, text }, ...members];
}

/** Values that a field of each kind accepts; the fields of other kinds are compared below. */
const ACCEPTED: Readonly<Partial<Record<Field['kind'], readonly unknown[]>>> = {
  switch: ['0', '1', 0, 1],
  integer: ['1', 1],
  seconds: ['0', 0],
  url: ['', 'https://example.com/a'],
  page: ['<p>one</p>\n<p>two</p>'],
};

describe('texts of the settings', () => {
  test('every setting, and every member of a rule, has a title in both languages', () => {
    const without = SETTINGS.filter(({ text }) => !text?.title.en || !text.title['zh-CN']);
    assert.deepEqual(
      without.map(({ path }) => path),
      [],
    );
  });

  test('every value of a choice has a label, and no label is of another value', () => {
    for (const { path, field, text } of SETTINGS) {
      const labelled = Object.keys(text?.values ?? {}).sort();
      assert.deepEqual(labelled, field.kind === 'choice' ? [...(field.values ?? [])].sort() : [], path);
    }
  });

  test('the kind of every setting says what its schema accepts', () => {
    for (const { path, field } of SETTINGS) {
      const values = field.kind === 'choice' ? (field.values ?? []) : (ACCEPTED[field.kind] ?? []);
      for (const value of values) assert.equal(field.schema.safeParse(value).success, true, `${path}: ${value}`);
      const isNumber = ['switch', 'choice', 'integer', 'seconds', 'objects'].includes(field.kind);
      assert.equal(
        field.schema.safeParse('neither this nor that').success,
        !isNumber && field.kind !== 'url' && !isWord(path),
        path,
      );
      assert.equal(field.members !== undefined, field.kind === 'objects', path);
      assert.equal(field.separator, { list: ',', lines: '\n' }[String(field.kind)], path);
    }
  });
});

/** Names of lists have no blanks. */
function isWord(path: string): boolean {
  return path.startsWith('address_lists.');
}
