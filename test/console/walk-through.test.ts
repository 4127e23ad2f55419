/**
 * The README's walk-through in a browser: from `npm start` on an empty data directory to a domain that serves a hit. A person acts
 * six times, and reads nothing but what is on the terminal and on the page.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { launchBrowser } from '../support/console/browser.ts';
import { buildConsole, ROOT } from '../support/console/built-console.ts';
import { startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { surroundings } from '../support/process/service.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../support/temporary.ts';

const DOMAIN = 'www.example.com';
const START_LIMIT_MS = 90_000;

test('six acts lead from a fresh start to a domain that serves a hit', needs('chromium', 'script'), async (t) => {
  buildConsole(); // which `npm start` does too; here it is none of what is waited for
  const browser = await launchBrowser(t);
  const origin = await startOrigin(t, (_request, response) => {
    response.writeHead(200, { 'cache-control': 'max-age=300', 'content-type': 'text/plain' }).end('hello');
  });
  const terminal = startOnTerminal(t);
  await eventually('it is ready', () => terminal.said().includes('causeway is ready'), START_LIMIT_MS);
  const printed = (what: RegExp) => what.exec(terminal.said())?.[1] ?? assert.fail(terminal.said());
  const address = new URL(printed(/^console +(\S+)/m).replace('127.0.0.1', 'localhost'));
  const page = await browser.at(address.origin).open(address.pathname);
  const person = actingPerson();

  await person.fill(page.getByLabel('Access token'), printed(/^token +(\S+)/m));
  await person.click(page.getByRole('button', { name: 'Sign in with the token', exact: true }));
  await person.click(page.getByRole('link', { name: 'Add a domain' }));
  await person.fill(page.getByLabel('Names'), DOMAIN);
  await person.fill(page.getByLabel('Origins'), `127.0.0.1:${origin.port}`);
  await person.click(page.getByRole('button', { name: 'Add domain' }));

  await page.getByText(`${DOMAIN}.cdn.localhost`, { exact: true }).waitFor();
  const steps = page.getByRole('listitem');
  await steps.filter({ hasText: 'In force on the edges done' }).waitFor();
  await steps.filter({ hasText: 'The origin answers done' }).waitFor();
  const edge = printed(/^edge +(http:\S+)/m);
  assert.deepEqual([await askEdge(edge), await askEdge(edge)], ['MISS', 'HIT']);
  await page.getByText(`${DOMAIN} is served.`).waitFor({ timeout: START_LIMIT_MS });
  assert.equal(person.acts(), 6);
  browser.assertNoProblems();
});

/** Counts clicks, and fields that are filled in. */
function actingPerson() {
  let acts = 0;
  return {
    click: async (locator: Locator) => {
      acts += 1;
      await locator.click();
    },
    fill: async (locator: Locator, text: string) => {
      acts += 1;
      await locator.fill(text);
    },
    acts: () => acts,
  };
}

/** `npm start` as the README says it, on a terminal, on which the token is shown; ended as by Ctrl-C. */
function startOnTerminal(t: Cleanup) {
  const env = {
    ...surroundings(),
    HOME: temporaryFolder(t),
    CAUSEWAY_DATA_DIR: join(temporaryFolder(t), 'data'),
    CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0',
    CAUSEWAY_METRICS_LISTEN: '127.0.0.1:0',
    CAUSEWAY_EDGE_HTTP_LISTEN: '127.0.0.1:0',
    CAUSEWAY_EDGE_HTTPS_LISTEN: '127.0.0.1:0',
    CAUSEWAY_RTMP_LISTEN: 'off',
    CAUSEWAY_DNS_LISTEN: '127.0.0.1:0',
    CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
    CAUSEWAY_EDGE_WORKERS: '1',
    CAUSEWAY_STAT_SECONDS: '1', // so that the first request is known in a second, not in half a minute
  };
  const child = spawn(obtain('script'), ['-qec', 'npm start', '/dev/null'], {
    cwd: ROOT,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exit = once(child, 'close');
  t.after(async () => {
    child.stdin.write('\x03');
    await exit;
  });
  return { said: () => output };
}

/** A viewer's request; returns the first word of `X-Cache`. */
async function askEdge(url: string): Promise<string> {
  const sent = request(`${url}/hello.txt`, { headers: { host: DOMAIN } });
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return String(response.headers['x-cache']).split(' ')[0] ?? '';
}
