/** The console in a browser: it renders under its policy, and what the policy forbids is refused and noticed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { needs } from '../support/runner/needs.ts';

test('a browser and the console', needs('chromium', { timeout: 180_000 }), async (t) => {
  const world = await startConsole(t);

  await t.test('the address of control leads to a page without problems, in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await world.open('/', { colorScheme });
      assert.equal(new URL(page.url()).pathname.startsWith('/console/'), true);
      await page.getByRole('heading', { level: 1 }).waitFor();
      assert.deepEqual(await findViolations(page), []);
      await page.evaluate('document.querySelector("main").append(new Image())');
      assert.match((await findViolations(page)).join('\n'), /^image-alt at /);
    }
    assert.deepEqual(world.takeProblems(), []);
  });

  await t.test('the reference has its style sheet under its policy', async () => {
    const page = await world.open('/docs?lang=en');
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('summary')).cursor"), 'pointer');
    assert.deepEqual(world.takeProblems(), []);
  });

  await t.test('what the policy forbids is refused and noticed', async () => {
    const forbidden: readonly (readonly [expression: string, problem: RegExp])[] = [
      ["document.body.append(Object.assign(document.createElement('style'), { textContent: 'a{}' }))", /style-src/],
      [
        "document.body.append(Object.assign(document.createElement('script'), { textContent: '1' }))",
        /require-trusted/,
      ],
      ["document.body.innerHTML = '<b>bold</b>'", /require-trusted-types-for/],
      ["trustedTypes.createPolicy('mine', {})", /trusted-types/],
      ["document.body.setAttribute('style', 'color: red')", /style-src/],
      ["fetch('https://elsewhere.example/')", /connect-src/],
      ["document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/a.png' }))", /img-src/],
    ];
    for (const [expression, problem] of forbidden) {
      const page = await world.open('/console/');
      const seen = page.waitForEvent('console', { predicate: (message) => /^policy: /.test(message.text()) });
      await page.evaluate(`(async () => { try { await (${expression}) } catch {} })()`);
      assert.match((await seen).text(), problem, expression);
      await page.close();
      assert.ok(world.takeProblems().some((one) => problem.test(one)));
    }
  });
});
