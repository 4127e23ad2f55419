/** The pages of the console on a phone and by the keyboard. Each by itself is in every-page.test.ts. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { PATHS } from '../../console/routes.ts';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { ROOT } from '../support/console/built-console.ts';
import { PAGE_EXAMPLES } from '../support/console/page-examples.ts';
import { addDomain, openSignedIn, signIn } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

const PHONE = { width: 390, height: 844 };

test('every page of the console has an example here', async () => {
  const patterns = await readPagePatterns();
  const shown = PAGE_EXAMPLES.map(([path]) => patterns.find((pattern) => isMatch(pattern, path.replace(/\?.*/, ''))));
  assert.deepEqual(
    patterns.filter((pattern) => !shown.includes(pattern)),
    [],
  );
});

test('pages on a phone and by the keyboard', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const id = await addDomain(console, 'www.example.com');

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

async function isFocused(locator: Locator): Promise<boolean> {
  return (await locator.and(locator.page().locator(':focus')).count()) === 1;
}
