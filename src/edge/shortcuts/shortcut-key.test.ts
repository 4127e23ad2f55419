import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KEY_MARKS, ShortcutKey } from './shortcut-key.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** Fills the key from texts, or from bytes with `asBytes`. */
function fill(key: ShortcutKey, parts: readonly string[], asBytes = false): number | undefined {
  const [host = '', target = '', coding = ''] = parts;
  key.begin(false);
  if (!asBytes) key.addText(host);
  else key.add(latin1(`  ${host}`), 2, 2 + host.length);
  key.addMark(KEY_MARKS.target);
  if (asBytes) key.add(latin1(`- ${target} -`), 2, 2 + target.length);
  else key.addText(target);
  if (coding !== '') key.addMark(KEY_MARKS.coding);
  key.addText(coding);
  return key.end();
}

describe('the key of a shortcut', () => {
  test('the key of a shortcut is the same for the same parts, as bytes or as texts', () => {
    const key = new ShortcutKey();
    for (const parts of [
      ['a.test', '/'],
      ['a.test', '/a?\xe9', 'gzip, \xff'],
      ['a', '/'.repeat(900)],
    ]) {
      const hash = fill(key, parts);
      const kept = key.keep();
      assert.equal(fill(key, ['b.test', '/b']) === hash, false);
      assert.equal(key.is(kept), false);
      assert.equal(fill(key, parts, true), hash);
      assert.equal(key.is(kept), true);
    }
  });

  test('the key of a shortcut differs if any part does', () => {
    const key = new ShortcutKey();
    const kept = [
      ['a.test', '/a'],
      ['a.test', '/b'],
      ['a.tes', 't/a'],
      ['a.test/a', '/'],
      ['a.test', '/a/'],
      ['a.test', '/a', 'br'],
      ['a.test', '/a', 'b'],
    ].map((parts) => {
      fill(key, parts);
      return key.keep();
    });
    key.begin(true);
    key.addText('a.test');
    key.addMark(KEY_MARKS.target);
    key.addText('/a');
    key.end();
    for (const one of kept) assert.equal(key.is(one), false);
    assert.equal(new Set(kept.map((one) => Buffer.from(one.buffer).toString('latin1'))).size, kept.length);
  });

  test('the key of a shortcut is undefined if it is too long, whatever follows', () => {
    const key = new ShortcutKey();
    assert.notEqual(fill(key, ['a', `/${'x'.repeat(1_020)}`]), undefined);
    assert.equal(fill(key, ['a', `/${'x'.repeat(1_021)}`]), undefined);
    assert.equal(fill(key, ['a', `/${'x'.repeat(1_021)}`], true), undefined);
    assert.equal(fill(key, ['a', `/${'x'.repeat(2_000)}`, 'br']), undefined);
    assert.notEqual(fill(key, ['a', '/']), undefined);
  });
});
