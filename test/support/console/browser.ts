/**
 * The console of a real service in a real browser. All pages of a test share one browser, each in a profile of its own, and whatever
 * goes wrong in one of them fails the test: errors on the browser's console, violations of the policy, requests to other hosts. Tests
 * have no types of the DOM: `page.evaluate` is given text, which runs in spite of the policy.
 */
import assert from 'node:assert/strict';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type RunningService, startService } from '../process/service.ts';
import { obtain } from '../runner/needs.ts';
import type { Cleanup } from '../temporary.ts';
import { buildConsole } from './built-console.ts';

/** How long a page may take for what a test waits for, on a machine that many tests share. */
const WAIT_LIMIT_MS = 90_000;

export interface ConsoleOptions {
  /** Settings of the service besides those of every test. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Data directory of a service that has run before; absent: a new one. */
  readonly dataDir?: string;
  /** Problems that belong to what is tested, such as `/status of 401/`. */
  readonly expected?: readonly RegExp[];
}

export interface TestConsole extends Pages {
  readonly service: RunningService;
  /** Origin of the console: by the name `localhost`, since passkeys are not for addresses. */
  readonly url: string;
}

interface Pages {
  /**
   * Opens a path of control in a new profile, in English and without motion if nothing else is asked for. It has no cookies but
   * those that `prepare` gets it.
   */
  open(
    path: string,
    profile?: BrowserContextOptions,
    prepare?: (profile: BrowserContext) => Promise<void>,
  ): Promise<Page>;
  /** Opens a path in another tab of a page's profile. */
  openBeside(page: Page, path: string): Promise<Page>;
  /** Returns the problems so far and forgets them; those that are left at the end fail the test. */
  takeProblems(): readonly string[];
}

/** The calling test declares `needs('chromium')`; its subtests can share what is started. */
export async function startConsole(
  t: Cleanup,
  { settings = {}, dataDir, expected = [] }: ConsoleOptions = {},
): Promise<TestConsole> {
  buildConsole();
  // Before the service, so that it ends before it: pages would complain of its absence.
  const browser = await launchBrowser(t, expected);
  const own = { CAUSEWAY_CONSOLE: 'on', ...settings };
  const service = await startService(t, { settings: own, ...(dataDir !== undefined && { dataDir }) });
  const url = service.controlUrl.replace('127.0.0.1', 'localhost');
  t.after(browser.assertNoProblems);
  return { service, url, ...browser.at(url) };
}

/**
 * A browser until the test ends. `expected`: see `ConsoleOptions`. What asserts is to be the last of the test's cleanups,
 * since those behind one that throws do not run.
 */
export async function launchBrowser(t: Cleanup, expected: readonly RegExp[] = []) {
  const browser = await chromium.launch({ executablePath: obtain('chromium') });
  const problems: string[] = [];
  const report = (problem: string) => {
    if (!expected.some((pattern) => pattern.test(problem))) problems.push(problem);
  };
  t.after(() => browser.close());
  return {
    assertNoProblems: () => assert.deepEqual(problems, [], 'problems in the browser'),
    /** Opens pages of the console at this origin. */
    at: (url: string): Pages => {
      const goTo = async (page: Page, path: string) => {
        watch(page, url, report);
        await page.goto(path);
        return page;
      };
      return {
        open: async (path, profile = {}, prepare = async () => undefined) => {
          const context = await browser.newContext({
            ...{ baseURL: url, locale: 'en', reducedMotion: 'reduce' },
            ...profile,
          });
          context.setDefaultTimeout(WAIT_LIMIT_MS);
          await context.addInitScript(REPORT_VIOLATIONS);
          await prepare(context);
          return await goTo(await context.newPage(), path);
        },
        openBeside: async (page, path) => await goTo(await page.context().newPage(), path),
        takeProblems: () => problems.splice(0),
      };
    },
  };
}

const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + [event.effectiveDirective, event.blockedURI, event.sourceFile, event.sample].join(' ')))`;

function watch(page: Page, url: string, report: (problem: string) => void): void {
  page.on('console', (message) => {
    if (message.type() === 'error') report(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => report(String(error)));
  page.on('crash', () => report('the page has crashed'));
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && new URL(request.url()).origin !== url) report(`asks ${request.url()}`);
  });
}
