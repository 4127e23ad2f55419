/** The typed client as another project installs it: from a file, without a registry. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROOT = join(import.meta.dirname, '../..');

const PROGRAM = `import { ClientError, createClient } from 'causeway-client';
import { ROUTE_NAMES } from 'causeway-client/contract/routes.js';

const [baseUrl = '', accessToken = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, accessToken, locale: 'en' });
const { domain_id } = await client.call('domain.add', {
  domain: 'www.example.com',
  cdn_type: '1',
  data: ['192.0.2.1'],
});
const { domain_name } = await client.call('domain.get', { domain_id });
const refused = await client.call('domain.add', { domain: 'www.example.com', cdn_type: '1', data: ['192.0.2.1'] }).then(
  () => 'taken twice',
  (error: unknown) => (error instanceof ClientError ? String(error.code) : String(error)),
);
console.log(domain_name, refused, ROUTE_NAMES.includes('domain.add'));
`;

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'esnext',
  module: 'nodenext',
  lib: ['esnext', 'dom'],
  types: [],
  skipLibCheck: false,
};

test('another project installs the client from a file, compiles strictly, and adds a domain', async (t) => {
  const folder = temporaryFolder(t);
  const run = (program: string, ...words: readonly string[]) =>
    execFileSync(program, words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const file = run(process.execPath, join(ROOT, 'packaging/clients/pack-typescript.ts'), folder).trim();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  // A registry that does not exist: whatever is asked of one fails.
  run('npm', 'install', '--no-audit', '--no-fund', '--registry', 'http://127.0.0.1:9', file);
  const installed = JSON.parse(readFileSync(join(folder, 'node_modules/causeway-client/package.json'), 'utf8'));
  assert.equal(installed.version, JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version);
  writeFileSync(join(folder, 'add.mts'), `declare const process: { readonly argv: string[] };\n${PROGRAM}`);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files: ['add.mts'] }));
  run(process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'));
  const { controlUrl, token } = await startService(t);
  assert.equal(run(process.execPath, 'add.mjs', controlUrl, token), 'www.example.com domainDuplicate true\n');
});
