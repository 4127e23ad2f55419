/** `causeway token own`: the tokens of the account of an access token. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startControl } from '../support/cli/control.ts';
import { runCommand } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('an account makes, rotates and revokes its own tokens with one of them', async (t) => {
  const service = await startControl(t);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: service.dataDir } });
    return code === 0 ? stdout : stderr;
  };
  await run('domain', 'add', 'own.example', '192.0.2.1');
  const [id = '', secret = ''] = (
    await run('token', 'own', 'create', '--scopes', 'cdn', '--access', 'read', '--domain-ids', 'own.example')
  ).split('\n');
  assert.match(id, /^token \d+$/);
  const token = id.slice('token '.length);
  assert.match(await run('token', 'own', 'list'), new RegExp(`^${token} +cdn +read +1 `, 'm'));
  const rotated = await run('token', 'own', 'rotate', token, '--overlap-seconds', '3600');
  assert.match(rotated, new RegExp(`^${id}\ncwy_[\\w-]{43}\nthe former value works until \\d{4}-\\S+\n$`));
  assert.equal(rotated.includes(secret), false);
  const file = join(temporaryFolder(t), 'token');
  writeFileSync(file, secret);
  const list = ['domain', 'list', '--token-file', file];
  assert.match(await run(...list), /own\.example/, 'the former value still works');
  assert.equal(await run('token', 'own', 'revoke', token), `token ${token} revoked\n`);
  assert.equal(await run(...list), 'causeway: access_token has been revoked\n');
});

test('limits of an account are set, shown with what is used, and set back', async (t) => {
  const service = await startControl(t);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: service.dataDir } });
    return code === 0 ? stdout : stderr;
  };
  await run('domain', 'add', 'own.example', '192.0.2.1');
  const set = ['account', 'limits', '1', '--domains', '5', '--bandwidth-mbps', '100', '--over-bandwidth', 'refuse'];
  assert.equal(await run(...set), 'limits of account 1 set\n');
  assert.match(
    await run('account', 'limits', '1'),
    /^domains +5 +1\n[\s\S]*^bandwidth_mbps +100 +-\nover_bandwidth +refuse /m,
  );
  await run('account', 'limits', '1', '--domains', '');
  assert.match(await run('account', 'limits', '1'), /^domains +100000 +1$/m);
  assert.match(
    await run('account', 'limits', '1', '--domains', 'x'),
    /^causeway: --domains is invalid: expected an integer/,
  );
});

test("a customer's events take the customer's token on the machine of the service, too", async (t) => {
  const service = await startControl(t);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: service.dataDir } });
    return code === 0 ? stdout : stderr;
  };
  assert.equal(await run('events', 'webhook', '--own'), 'there is no webhook for events\n');
  const url = 'http://8.8.8.8/hook';
  assert.match(await run('events', 'set-webhook', url, '--own'), /^events are posted to http:\/\/8\.8\.8\.8\/hook\n/);
  assert.match(await run('events', 'webhook', '--own'), /^events are posted to http/);
  assert.equal(await run('events', 'webhook'), 'there is no webhook for events\n', "the operator's is another one");
  assert.match(await run('events', 'list', '--own'), /^ID +TIME/);
});
