/** People before the console of a real service: with an account, a password, perhaps a passkey that a device in software keeps. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import type { Role } from '#model/person.ts';
import { PASSWORD, secretOf } from '../api/people.ts';
import type { TestConsole } from './browser.ts';
import { clientOf } from './signed-in.ts';

/** A member of an account who has accepted the operator's link, and signs in by the password. */
export async function makePerson(console: TestConsole, email: string, role: Role, account = '1'): Promise<void> {
  const client = clientOf(console);
  const { link } = await client.call('operator.createPerson', { email, account_id: account, role });
  await client.call('invitation.accept', { secret: secretOf(link), password: PASSWORD });
}

export async function makeAccount(console: TestConsole, kind: 'customer' | 'operator'): Promise<string> {
  const { account_id } = await clientOf(console).call('operator.createAccount', { name: `the ${kind}`, kind });
  return account_id;
}

/** Types the password; what follows is the test's. */
export async function typePassword(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function signInAsPerson(page: Page, email: string): Promise<void> {
  await typePassword(page, email);
  await page.getByRole('banner').waitFor();
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('banner').getByRole('button').last().click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
}

/** A device that keeps passkeys and says that its owner is there, for the page's tab. */
export async function addPasskeyDevice(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** All sessions are as they are 15 minutes after the last proof. */
export function forgetProofs({ service }: TestConsole): void {
  const database = new DatabaseSync(join(service.dataDir, 'causeway.db'), { timeout: 5000 });
  const { changes } = database.prepare('UPDATE session SET strong_at = NULL WHERE strong_at IS NOT NULL').run();
  database.close();
  assert.ok(changes > 0, 'a session has proven something');
}
