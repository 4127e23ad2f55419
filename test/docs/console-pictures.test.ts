/** The pictures of docs/console.md: each is there, is shown, is small, and is made by the script. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ROOT } from '../support/console/built-console.ts';
import { MAX_PICTURE_BYTES, PICTURES, PICTURES_FOLDER } from '../support/console/pictures.ts';

const files = PICTURES.map(({ name }) => `${name}.png`).sort();

describe('pictures of the console (node test/support/console/make-pictures.ts)', () => {
  test('the folder has the pictures that the script makes, and no others', () => {
    assert.deepEqual(readdirSync(PICTURES_FOLDER).sort(), files);
  });

  test('the document shows each picture once, with words for those who do not see it', () => {
    const document = readFileSync(join(ROOT, 'docs/console.md'), 'utf8');
    const shown = [...document.matchAll(/!\[([^\]]{20,})\]\(pictures\/([\w-]+\.png)\)/g)].map(([, , file]) => file);
    assert.deepEqual(shown.toSorted(), files);
  });

  test('every picture is small', () => {
    const large = files.filter((file) => statSync(join(PICTURES_FOLDER, file)).size > MAX_PICTURE_BYTES);
    assert.deepEqual(large, []);
  });
});
