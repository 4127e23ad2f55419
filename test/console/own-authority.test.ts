/** A fleet with certificates of the operator's own authority in the console: an edge is made known there, and connects. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '../support/certificates/certificate.ts';
import { startConsole } from '../support/console/browser.ts';
import { openSignedIn } from '../support/console/signed-in.ts';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('an edge of an own authority is added without a token', needs('chromium', 'openssl'), async (t) => {
  const authority = createAuthority(t);
  const folder = temporaryFolder(t);
  const certificateFor = (...names: string[]) => {
    const { cert, key } = authority.issue(names);
    const [certFile, keyFile] = [join(folder, `${names[0]}.pem`), join(folder, `${names[0]}.key`)];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key, { mode: 0o600 });
    return {
      CAUSEWAY_FLEET_CA: authority.caFile,
      CAUSEWAY_FLEET_CERT: certFile,
      CAUSEWAY_FLEET_KEY: keyFile,
    };
  };
  const listen = `127.0.0.1:${await freePort()}`;
  const console = await startConsole(t, {
    settings: { ...certificateFor('control.example', '127.0.0.1'), CAUSEWAY_FLEET_LISTEN: listen },
  });
  const page = await openSignedIn(t, console, '/console/operator/edges');
  await page.getByText(/^1 of 1 ready/).waitFor();
  await page.getByRole('button', { name: 'Add edge' }).click();
  const form = page.getByRole('dialog', { name: 'Add an edge of your own authority' });
  await form.getByLabel('Name of the edge').fill('fra 1');
  await form.getByRole('button', { name: 'Add edge' }).click();
  await form.getByText(/^Expected the id of an edge/).waitFor();
  await form.getByLabel('Name of the edge').fill('fra1');
  await form.getByLabel('Labels').fill('rack=b7');
  await form.getByRole('button', { name: 'Add edge' }).click();
  await form.waitFor({ state: 'hidden' });
  const row = page.getByRole('row', { name: /^fra1/ });
  await row.getByText('never heard of').waitFor();
  await row.getByText('rack=b7').waitFor();

  const settings = { ...certificateFor('fra1'), CAUSEWAY_ROLES: 'edge', CAUSEWAY_CONTROL: `https://${listen}` };
  await startService(t, { dataDir: join(temporaryFolder(t), 'edge'), settings });
  await row.getByText('ready', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Add edge' }).click();
  await form.getByLabel('Name of the edge').fill('fra1');
  await form.getByRole('button', { name: 'Add edge' }).click();
  await form.getByRole('alert').getByText('fra1').waitFor();
  assert.equal(await form.isVisible(), true);
});
