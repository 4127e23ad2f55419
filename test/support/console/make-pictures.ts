/** Makes the pictures of docs/console.md: `node test/support/console/make-pictures.ts [NAME…]`; all of them without a name. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '../temporary.ts';
import { toPalettePng } from './palette-png.ts';
import { MAX_PICTURE_BYTES, PICTURES, PICTURES_FOLDER, type Picture } from './pictures.ts';
import { type SampleConsole, startSample } from './sample.ts';
import { openSignedIn } from './signed-in.ts';

const DESK = { width: 1120, height: 760 };

const wanted = process.argv.slice(2);
const ends: (() => unknown)[] = [];
const cleanup: Cleanup = { after: (work) => ends.push(work) };
try {
  const console = await startSample(cleanup);
  mkdirSync(PICTURES_FOLDER, { recursive: true });
  for (const picture of PICTURES)
    if (wanted.length === 0 || wanted.includes(picture.name)) await makePicture(console, picture);
} finally {
  for (const end of ends) await end();
}

async function makePicture(console: SampleConsole, { name, path, profile, show }: Picture): Promise<void> {
  const id = console.ids.get('www.example.com') ?? '';
  const page = await openSignedIn(cleanup, console, path.replace('ID', id), { viewport: DESK, ...profile });
  await show(page, console);
  await page.evaluate('document.fonts.ready.then(() => true)');
  const png = toPalettePng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  if (png.length > MAX_PICTURE_BYTES) throw new Error(`${name}: ${png.length} bytes, expected ${MAX_PICTURE_BYTES}`);
  writeFileSync(join(PICTURES_FOLDER, `${name}.png`), png);
  process.stdout.write(`${name} ${Math.ceil(png.length / 1024)} KiB\n`);
  await page.context().close();
}
