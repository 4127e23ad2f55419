import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { storeFolder } from '../../../../test/support/edge/store-folder.ts';
import { storedHead } from '../store-samples.suite.ts';
import { Volume } from './volume.ts';

const HASH = 'abc0000000000001';

function open(t: TestContext) {
  const { directory, keep } = storeFolder(t);
  const volume = new Volume({ directory, maxBytes: 1_000_000, onProblem: (problem) => assert.fail(String(problem)) });
  keep({ [Symbol.asyncDispose]: async () => volume.close() });
  return volume;
}

function recordOf(text: string) {
  const inline = Buffer.from(text);
  const variant = { ...storedHead(), bodyId: '0000000000000001', bodyBytes: inline.length, inline };
  return { key: 'k', variants: [variant] };
}

async function textIn(volume: Volume): Promise<string | undefined> {
  return (await volume.readEntry(HASH))?.variants[0]?.inline?.toString();
}

describe('entries of a cache directory', () => {
  test('an entry of a new key is written in its place, in a folder that is made for it', async (t) => {
    const volume = open(t);
    const bytes = await volume.writeEntry(HASH, recordOf('hello'), true);
    assert.equal(await textIn(volume), 'hello');
    const files = globSync('**', { cwd: volume.objects }).filter((name) => name.includes(HASH));
    assert.deepEqual(files, [join('abc', HASH)]);
    assert.equal(readFileSync(join(volume.objects, 'abc', HASH)).length, bytes);
  });

  test('an entry of a key that was wrongly taken for new is replaced as a whole', async (t) => {
    const volume = open(t);
    await volume.writeEntry(HASH, recordOf('a longer text than the next'));
    await volume.writeEntry(HASH, recordOf('hello'), true);
    assert.equal(await textIn(volume), 'hello');
  });

  test('an entry of which only the beginning was written is absent, and is replaced', async (t) => {
    const volume = open(t);
    await volume.writeEntry(HASH, recordOf('hello'), true);
    const path = join(volume.objects, 'abc', HASH);
    const whole = readFileSync(path);
    for (let bytes = 0; bytes < whole.length; bytes++) {
      writeFileSync(path, whole.subarray(0, bytes));
      assert.equal(await textIn(volume), undefined, `${bytes} bytes`);
    }
    await volume.writeEntry(HASH, recordOf('again'), true);
    assert.equal(await textIn(volume), 'again');
  });
});
