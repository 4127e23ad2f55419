/** An OpenID Connect provider on this machine, and what a browser does there. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Cleanup } from '../temporary.ts';

export interface IdentityProvider {
  readonly issuer: string;
  /** Signs in there as `login` (see the process), and returns the query that the browser is sent back with. */
  visit(location: string, login: string): Promise<string>;
  /** Puts somebody into another group. */
  move(login: string, group: string): Promise<void>;
}

export const CLIENT = { clientId: 'console', clientSecret: 'of-the-console-and-nobody-else' };

export async function startIdentityProvider(t: Cleanup): Promise<IdentityProvider> {
  const script = join(import.meta.dirname, 'identity-provider-process.ts');
  const child = spawn(process.execPath, [script, CLIENT.clientId, CLIENT.clientSecret], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { NODE_ENV: 'test' },
  });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill();
    await exited;
  });
  const [issuer] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    issuer,
    visit,
    move: async (login, group) => {
      const answer = await fetch(`${issuer}/move?${new URLSearchParams({ login, group })}`);
      assert.equal(answer.status, 200);
    },
  };
}

const MAX_STEPS = 12;

/** Follows redirects and sends the provider's forms, with the cookies that it gives. */
async function visit(location: string, login: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next: { readonly url: URL; readonly form?: URLSearchParams } = { url: new URL(location) };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (next.url.pathname === '/console/provider') return next.url.search;
    const { url, form }: typeof next = next;
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form && { method: 'POST', body: form }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=');
      cookies.set(name, value);
    }
    const to = answer.headers.get('location');
    next = to === null ? formOf(await answer.text(), url, login) : { url: new URL(to, url) };
  }
  throw new Error('the provider does not come to an end');
}

function formOf(page: string, url: URL, login: string) {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1] ?? assert.fail(page);
  const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? assert.fail(page);
  return { url: new URL(action, url), form: new URLSearchParams({ prompt, login, password: 'any' }) };
}
