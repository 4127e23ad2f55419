/** Every page of the console: what axe finds in both themes, both languages, and the width of a phone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { COLORS, findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { examplePaths } from '../support/console/page-examples.ts';
import { addDomain, openSignedIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

/** Labels that lie over their controls. */
const OVERLAPS = `[...document.querySelectorAll('label[for]')].filter((label) => {
  const control = document.getElementById(label.htmlFor)?.getBoundingClientRect();
  const words = label.getBoundingClientRect();
  return control && words.width > 0 && control.left < words.right - 1 && words.left < control.right - 1 &&
    control.top < words.bottom - 1 && words.top < control.bottom - 1;
}).map((label) => label.textContent)`;

const DESK = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };

test('every page is as it should be', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const paths = examplePaths(await addDomain(console, 'www.example.com'));

  await t.test('axe finds no fault, in English, light and dark', async (t) => {
    const page = await openSignedIn(t, console, '/console/', { locale: 'en', reducedMotion: 'reduce' });
    for (const [path, texts] of paths) {
      await page.emulateMedia({ colorScheme: 'light' });
      await show(page, path, texts.en);
      assert.deepEqual(await findViolations(page), [], path);
      assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, path);
      await page.emulateMedia({ colorScheme: 'dark' });
      assert.deepEqual(await findViolations(page, COLORS), [], `${path}, dark`);
      await assertFitsPhone(page, path);
    }
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  });

  await t.test('each is there in Chinese', async (t) => {
    const page = await openSignedIn(t, console, '/console/', { locale: 'zh-CN' });
    for (const [path, texts] of paths) {
      await show(page, path, texts['zh-CN']);
      await assertFitsPhone(page, path);
    }
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-CN');
  });
});

async function show(page: Page, path: string, text: string): Promise<void> {
  await page.goto(path);
  await page.getByText(text).first().waitFor();
  await page.evaluate('document.fonts.ready.then(() => true)');
}

async function assertFitsPhone(page: Page, path: string): Promise<void> {
  await page.setViewportSize(PHONE);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  assert.ok(Number(width) <= PHONE.width, `${path} is ${width} px wide`);
  assert.deepEqual(await page.evaluate(OVERLAPS), [], path);
  await page.setViewportSize(DESK);
}
