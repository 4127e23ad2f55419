/** The pages of the console on a phone, by the keyboard, and left alone: idle calls. Each by itself is in every-page.test.ts. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { PATHS } from '../../console/routes.ts';
import { findViolations } from '../support/console/axe.ts';
import { startConsole, type TestConsole } from '../support/console/browser.ts';
import { ROOT } from '../support/console/built-console.ts';
import { examplePaths, PAGE_EXAMPLES } from '../support/console/page-examples.ts';
import { addDomain, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

const PHONE = { width: 390, height: 844 };

const IDLE_MS = 10_000;
const MAX_IDLE_CALLS = 12;
/** More only make each other slow. */
const TABS_AT_ONCE = 16;

test('every page of the console has an example here', async () => {
  const patterns = await readPagePatterns();
  const shown = PAGE_EXAMPLES.map(([path]) => patterns.find((pattern) => isMatch(pattern, path.replace(/\?.*/, ''))));
  assert.deepEqual(
    patterns.filter((pattern) => !shown.includes(pattern)),
    [],
  );
});

test('pages on a phone, by the keyboard, and left alone', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const id = await addDomain(console, 'www.example.com');
  const paths = examplePaths(id);

  await t.test('the menu of a phone has no fault that axe finds', async (t) => {
    const page = await openSignedIn(t, console, '/console/', { viewport: PHONE, hasTouch: true, isMobile: true });
    await page.getByRole('navigation').getByRole('link', { name: 'Domains', exact: true }).tap();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    assert.deepEqual(await findViolations(page), []);
  });

  await t.test('the open tab is seen on a phone, also the last one', async (t) => {
    const page = await openSignedIn(t, console, `/console/domains/${id}/propagation`, { viewport: PHONE });
    await page.getByRole('navigation', { name: 'Parts of the domain' }).waitFor();
    const open = page.locator('main nav [aria-current=page]');
    await page.waitForFunction(`(() => {
      const tab = document.querySelector('main nav [aria-current=page]').getBoundingClientRect();
      return tab.left >= 0 && tab.right <= innerWidth;
    })()`);
    assert.equal(await open.textContent(), 'Propagation');
  });

  await t.test('an idle page makes at most twelve calls in ten seconds', async (t) => {
    const page = await openSignedIn(t, console);
    const counted: (readonly [path: string, calls: number])[] = [];
    for (let at = 0; at < paths.length; at += TABS_AT_ONCE) {
      const some = paths.slice(at, at + TABS_AT_ONCE);
      counted.push(...(await Promise.all(some.map(([path, texts]) => countIdleCalls(console, page, path, texts.en)))));
    }
    assert.deepEqual(
      counted.filter(([, calls]) => calls > MAX_IDLE_CALLS),
      [],
    );
  });

  await t.test('a keyboard is enough to sign in, find a domain and change it', async () => {
    const page = await console.open('/console/');
    await signIn(page, console.service.token);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('www.exa');
    await page.getByRole('option', { name: 'www.example.com' }).waitFor();
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { level: 1, name: 'www.example.com' });
    await heading.waitFor();
    await page.waitForFunction('document.activeElement?.tagName === "H1"');
    for (let n = 0; !(await isFocused(page.getByRole('link', { name: 'Advanced' }))); n += 1) {
      assert.ok(n < 15, 'the tabs are far from the heading');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    const change = page.getByRole('switch', { name: 'Compress texts' });
    await change.waitFor();
    await change.focus();
    await page.keyboard.press('Space');
    await page.getByRole('switch', { name: 'Compress texts', checked: true }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog', { name: 'What will change' }).getByText('Compress texts').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).press('Enter');
    await page.getByRole('switch', { name: 'Compress texts', checked: false }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  });

  await t.test('a menu takes the focus at its first press, and gives it back', async (t) => {
    const page = await openSignedIn(t, console);
    for (const key of ['Enter', 'Space']) {
      await page.reload();
      const button = page.getByRole('button', { name: 'Language, theme and times' });
      await button.focus();
      await page.keyboard.press(key);
      await page.locator('[role=menu]:focus, [role=menu] :focus').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      assert.ok(await isFocused(button), key);
    }
    await page.reload();
    await page.getByRole('button', { name: 'Language, theme and times' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.locator('html[data-theme=dark]').waitFor();
  });

  await t.test('the first Tab of a page skips to its content', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains');
    await page.reload();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    await page.keyboard.press('Tab');
    assert.ok(await isFocused(page.getByRole('link', { name: 'Skip to the content' })));
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement?.id'), 'main');
  });
});

/** Addresses of the table of pages, in its order. It is read as text: Node runs no JSX. */
async function readPagePatterns(): Promise<readonly string[]> {
  const source = readFileSync(join(ROOT, 'console/pages.tsx'), 'utf8');
  const table = source.slice(source.indexOf('const PAGES'), source.indexOf('\n];'));
  const rows = [...table.matchAll(/^ {2}(?:inMenu\('(\w+)'|\{\s*path: (?:PATHS\.)?(\w+),)/gm)];
  const files = globSync(['console/routes.ts', 'console/routes/*.ts'], { cwd: ROOT, exclude: ['**/*.test.ts'] });
  const modules = await Promise.all(files.map((file): Promise<object> => import(join(ROOT, file))));
  const known = new Map<string, unknown>([PATHS, ...modules].flatMap((values) => Object.entries(values)));
  assert.equal(rows.length, source.match(/= lazily\(/g)?.length, 'a row for each page, as they are written here');
  return rows.map(([row, page = '', constant = '']) => {
    const pattern = known.get(page || constant);
    return typeof pattern === 'string' ? pattern : assert.fail(row);
  });
}

/** Whether wouter matches a path: `:name` is a part, one with `?` may be absent. */
function isMatch(pattern: string, path: string): boolean {
  const parts = pattern.replace(/\/:\w+\?/g, '(?:/[^/]+)?').replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${parts}$`).test(path);
}

async function countIdleCalls(console: TestConsole, beside: Page, path: string, text: string) {
  const tab = await console.openBeside(beside, path);
  await tab.getByText(text).first().waitFor();
  await tab.waitForLoadState('networkidle');
  let calls = 0;
  tab.on('request', (request) => {
    if (request.method() === 'POST') calls += 1;
  });
  await tab.waitForTimeout(IDLE_MS);
  await tab.close();
  return [path, calls] as const;
}

async function isFocused(locator: Locator): Promise<boolean> {
  return (await locator.and(locator.page().locator(':focus')).count()) === 1;
}
