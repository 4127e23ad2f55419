/** `causeway person` and `causeway member`. docs/people.md */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD, secretOf } from '../support/api/people.ts';
import { startControl } from '../support/cli/control.ts';
import { runCommand } from '../support/process/service.ts';

test('people are made, listed, reset and disabled on the machine of the service', async (t) => {
  const service = await startControl(t);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: service.dataDir } });
    return code === 0 ? stdout : stderr;
  };
  const made = await run('person', 'create', 'Li@example.com', '--account', '1', '--role', 'owner', '--name', 'Li');
  const [id, link = '', until] = made.split('\n');
  assert.equal(id, 'person 1');
  assert.match(link, /^http:\/\/localhost:\d+\/console\/welcome#cwy_[\w-]{43}$/);
  assert.match(until ?? '', /^good once, until \d{4}-/);
  const accept = (url: string) =>
    fetch(`${service.controlUrl}/invitation/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret: secretOf(url), password: PASSWORD }),
    });
  assert.equal((await accept(link)).headers.get('x-error-code'), null);
  assert.match(await run('person', 'list'), /^1 +li@example\.com +no +- +no +1:owner +Li$/m);
  const wrong = await run('person', 'create', 'han@example.com', '--account', '1', '--role', 'admin');
  assert.equal(
    wrong,
    'causeway: --role is invalid: expected a role of the kind of the account: viewer, editor, billing, owner\n',
  );
  const [reset = ''] = (await run('person', 'reset', '1', '--second-factor')).split('\n');
  assert.equal((await accept(reset)).headers.get('x-error-code'), null);
  assert.equal(await run('person', 'disable', '1'), 'person 1 disabled\n');
  assert.equal(await run('person', 'enable', '1'), 'person 1 enabled\n');

  const invited = await run('member', 'invite', 'han@example.com', '--role', 'viewer');
  assert.match(invited, /^http:\/\/localhost:\d+\/console\/welcome#cwy_/);
  assert.match(await run('member', 'list'), /^1 +owner +li@example\.com .*\n- +viewer +han@example\.com +- +\d+$/m);
  assert.equal(
    await run('member', 'role', '1', 'viewer'),
    'causeway: member 1 is the last owner of the account: make another one first\n',
  );
  assert.equal(await run('member', 'second-factor', 'on'), 'second factor on\n');
});
