/** People before the console of a real service: signed in by the first token, with domains that the test adds. */
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import type { Cleanup } from '../temporary.ts';
import type { TestConsole } from './browser.ts';

/** Texts of the sign-in that tests look for. */
const WORDS = {
  en: { more: 'Sign in with an access token', token: 'Access token', submit: 'Sign in with the token' },
  'zh-CN': { more: '使用访问令牌登录', token: '访问令牌', submit: '使用令牌登录' },
} as const;

export type TestLocale = keyof typeof WORDS;

/** Opens a page of the console in a new profile until the test ends, and signs in there. */
export async function openSignedIn(
  t: Cleanup,
  console: TestConsole,
  path = '/console/',
  { locale = 'en', ...profile }: Omit<BrowserContextOptions, 'locale'> & { readonly locale?: TestLocale } = {},
): Promise<Page> {
  const page = await console.open(path, { locale, ...profile }, async ({ request }) => {
    const answer = await request.post('/session/begin', { data: { access_token: console.service.token } });
    assert.partialDeepStrictEqual(await answer.json(), { status: 1 });
  });
  // A session may have so many streams at once.
  t.after(async () => await page.context().close());
  await page.getByRole('banner').waitFor();
  return page;
}

/** Signs in on the page itself. */
export async function signIn(page: Page, token: string, locale: TestLocale = 'en'): Promise<void> {
  const { more, token: label, submit } = WORDS[locale];
  const folded = page.getByText(more, { exact: true });
  // The form is folded away where there are people.
  await folded.or(page.getByLabel(label)).first().waitFor();
  if (await folded.isVisible()) await folded.click();
  await page.getByLabel(label).fill(token);
  await page.getByRole('button', { name: submit, exact: true }).click();
  await page.getByRole('banner').waitFor();
}

export function clientOf({ service }: Pick<TestConsole, 'service'>): Client {
  return createClient({ baseUrl: service.controlUrl, accessToken: service.token, locale: 'en' });
}

/** Adds a domain that nobody answers for, and returns its id. */
export async function addDomain(console: TestConsole, domain: string): Promise<string> {
  const { domain_id } = await clientOf(console).call('domain.add', { domain, cdn_type: '1', data: ['192.0.2.1'] });
  return domain_id;
}
