/** Every page of the console: what axe finds in both themes, idle calls, both languages, and the width of a phone. */
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

const [NOWHERE, { 'zh-CN': NOWHERE_TEXT }] = examplePaths('').at(-1) ?? assert.fail();

const IDLE_MS = 10_000;
const MAX_IDLE_CALLS = 12;

test('every page is as it should be', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const paths = examplePaths(await addDomain(console, 'www.example.com'));

  await t.test('axe finds no fault, light and dark, and an idle page makes at most twelve calls', async (t) => {
    const beside = await openSignedIn(t, console);
    const idle: ReturnType<typeof countIdleCalls>[] = [];
    for (const [path, texts] of paths) {
      const page = await console.openBeside(beside, path);
      await settled(page, texts.en);
      assert.deepEqual(await findViolations(page), [], path);
      assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, path);
      await page.emulateMedia({ colorScheme: 'dark' });
      assert.deepEqual(await findViolations(page, COLORS), [], `${path}, dark`);
      await assertFitsPhone(page, path);
      assert.equal(await page.locator('html').getAttribute('lang'), 'en', path);
      const counted = countIdleCalls(page, path); // while the next pages are looked at
      counted.catch(() => {}); // awaited below
      idle.push(counted);
    }
    assert.deepEqual(
      (await Promise.all(idle)).filter(([, calls]) => calls > MAX_IDLE_CALLS),
      [],
    );
  });

  await t.test('each is there in Chinese', async (t) => {
    const page = await openSignedIn(t, console, '/console/', { locale: 'zh-CN' });
    for (const [path, texts] of paths) {
      // By links, as within the console. What stands between has a text of its own, so that each is waited for.
      await follow(page, NOWHERE);
      await settled(page, NOWHERE_TEXT);
      await follow(page, path);
      await settled(page, texts['zh-CN']);
      await assertFitsPhone(page, path);
    }
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-CN');
  });
});

/** Goes to another address of the console without loading anything that is there already. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
}

async function settled(page: Page, text: string): Promise<void> {
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

/** Counts the calls of a page that is left alone, and closes it. */
async function countIdleCalls(page: Page, path: string) {
  await page.waitForLoadState('networkidle');
  let calls = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') calls += 1;
  });
  await page.waitForTimeout(IDLE_MS);
  await page.close();
  return [path, calls] as const;
}
