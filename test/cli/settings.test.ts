/** A domain's settings on the command line: set, read back, for people and as JSON. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startControl } from '../support/cli/control.ts';
import { runCommand } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('policies are replaced from a file, and their JSON output is such a file', async (t) => {
  const { run, refuses, write } = await startWithDomain(t);
  assert.match(
    await run('policies', 'www.example.com'),
    /^origin's cache headers +honored\nPRIORITY +TYPE +SCHEME +FOR/,
  );
  const policy = [
    {
      is_cache: 1,
      policy_type: 'suffix',
      policy_scheme: 'http',
      content: 'jpg,png',
      priority: 9,
      time_d: 30,
      time_s: 5,
    },
    { is_cache: 0, policy_type: 'prefix', content: '/api/' },
  ];
  const file = write('policies.json', JSON.stringify({ use_header_setting: '0', policy }));
  assert.equal(
    await run('policies', '1', '--set', file),
    "origin's cache headers  ignored\n" +
      'PRIORITY  TYPE    SCHEME  FOR         CONTENT\n' +
      '9         suffix  http    30 d 5 s    jpg,png\n' +
      '1         prefix  both    not cached  /api/\n',
  );
  const shown = await run('policies', '1', '--json');
  const again = JSON.parse(await run('policies', '1', '--set', write('again.json', shown), '--json'));
  const { revision: read, ...kept } = JSON.parse(shown);
  assert.deepEqual(again, { ...kept, revision: again.revision });
  assert.equal(again.revision, read, 'equal settings are no change');
  const other = write('other.json', JSON.stringify({ use_header_setting: '1', policy }));
  const { revision } = JSON.parse(await run('policies', '1', '--set', other, '--json'));
  assert.notEqual(revision, read);
  await refuses(
    ['policies', '1', '--set', file, '--if-revision', read],
    `causeway: the settings of domain 1 have changed: their revision is ${revision}, not ${read} (changed by token`,
  );
  await refuses(['policies', '1', '--set', '/nowhere'], 'causeway: cannot read /nowhere: no such file or folder');
  const broken = write('broken.json', '{');
  await refuses(['policies', '1', '--set', broken], `causeway: ${broken} is not valid JSON: `);
  const wrong = write(
    'wrong.json',
    JSON.stringify({ use_header_setting: 0, policy: [{ ...policy[0], priority: 100 }] }),
  );
  await refuses(
    ['policies', '1', '--set', wrong],
    'causeway: field policy[0][priority] is invalid: expected an integer from 1 to 99; found 100\n',
  );
});

test('one switch of the advanced configuration is changed, and the others stay', async (t) => {
  const { run, refuses, write } = await startWithDomain(t);
  assert.match(await run('advanced', '1', '--page-compress', 'on', '--expires', '60'), /^html-403 +none$/m);
  const page = write('page.html', '<h1>不</h1>');
  const changed = await run('advanced', '1', '--keep-url-params', 'on', '--forbid', '403', '--html-403', page);
  assert.equal(
    changed,
    'keep-url-params         on\n' +
      'prefix-cache-first      off\n' +
      'redirect-follow         off\n' +
      'page-compress           on\n' +
      'range-back-source       off\n' +
      'expires                 60 s\n' +
      'access-control-max-age  0 s\n' +
      'forbid                  403\n' +
      'html-403                stored, 12 bytes\n',
  );
  assert.equal(await run('advanced', 'www.example.com'), changed);
  assert.equal(JSON.parse(await run('show', '1', '--json')).html_403, '<h1>不</h1>');
  assert.match(await run('advanced', '1', '--forbid', 'plain'), /^forbid +plain\nhtml-403 +stored, 12 bytes$/m);
  await refuses(['advanced', '1', '--forbid', '302'], 'causeway: --forbid-redirect-url is ');
  await refuses(
    ['advanced', '1', '--expires', '1y'],
    'causeway: --expires is invalid: expected a whole number of seconds',
  );
  await refuses(['advanced', '1', '--page-compress', 'yes'], "error: option '--page-compress <switch>'");
});

test('rules of access are turned on and off; the list is kept', async (t) => {
  const { run, refuses } = await startWithDomain(t);
  assert.equal(await run('referer', '1'), 'rule  off\nblank  allow\n');
  const allowed = 'rule   allow\nentry  a.example\nentry  *.b.example\nblank  forbid\n';
  assert.equal(
    await run('referer', '--allow', 'A.example', '--allow', '*.b.example', '1', '--blank', 'forbid'),
    allowed,
  );
  assert.match(await run('referer', '1', '--off'), /^rule +off\nentry +a\.example\n/);
  assert.equal(await run('referer', '1', '--on', 'allow'), allowed);
  assert.match(await run('referer', '1', '--deny', 'c.example'), /^rule +deny\nentry +c\.example\nblank +forbid$/m);
  assert.match(await run('referer', '1', '--blank', 'allow'), /^rule +deny\nentry +c\.example\nblank +allow$/m);
  assert.equal(await run('ua', '1', '--deny', 'curl'), 'rule   deny\nentry  curl\n');
  assert.equal(await run('ua', '1', '--off'), 'rule   off\nentry  curl\n');
  assert.equal(await run('ua', '--on', '1'), 'rule   deny\nentry  curl\n');
  assert.equal(await run('ip', '--deny', '192.0.2.7/24,::1', '1'), 'rule   deny\nentry  192.0.2.0/24\nentry  ::1\n');
  assert.partialDeepStrictEqual(JSON.parse(await run('ip', '1', '--off', '--json')), {
    ip_type: 0,
    ip_str: '192.0.2.0/24,::1',
  });
  await refuses(['ip', '1', '--deny', 'x'], 'causeway: --deny is invalid: expected an IP address');
  assert.match(
    await run('show', '1'),
    /^policies +0, origin's cache headers honored\nreferer +deny 1, requests without Referer allowed\nua +deny 1\nip +off \(2 stored\)\nforbid +plain\nenabled +none\n$/m,
  );
  await refuses(['ip', '--deny', '192.0.2.1', '192.0.2.2', '1'], "error: too many arguments for 'ip'");
  await refuses(['ua', '1', '--deny', ''], 'causeway: --deny is invalid: expected 1 to 50 User-Agents');
  await refuses(['ua', '1', '--on', '--off'], "error: option '--off' cannot be used with option '--on'");
  await refuses(['ua', '1', '--off', '--deny', 'x'], "error: option '--off' cannot be used with option '--deny");
});

test('every command that changes a domain accepts the revision that the change is for', async (t) => {
  const { run, refuses, write } = await startWithDomain(t);
  const { revision } = JSON.parse(await run('show', '1', '--json')) as { revision: string };
  await run('ip', '1', '--deny', '192.0.2.1', '--if-revision', revision);
  const stale: readonly (readonly string[])[] = [
    ['origin', '1', '192.0.2.9'],
    ['close', '1'],
    ['open', '1'],
    ['remark', '1', 'x'],
    ['rm', '1'],
    ['rm', '1', '--wait'],
    ['advanced', '1', '--page-compress', 'on'],
    ['referer', '1', '--deny', 'a.example'],
    ['ua', '1', '--deny', 'curl'],
    ['ip', '1', '--off'],
    ['cache-options', '1', '--stale-cap', '0'],
    ['rate-limits', '1', '--set', write('limits.json', '{"limits":[]}')],
    ['ssl', '1', '--force-https', 'on'],
  ];
  for (const args of stale)
    await refuses([...args, '--if-revision', revision], 'causeway: the settings of domain 1 have changed: ');
  const now = JSON.parse(await run('show', '1', '--json')) as { revision: string };
  await run('rm', '1', '--if-revision', now.revision);
});

test('lists of rules are set from a file, and what is printed as JSON can be set again', async (t) => {
  const { run, refuses, write } = await startWithDomain(t);
  const lists: readonly (readonly [command: string, json: string, shown: RegExp])[] = [
    [
      'rate-limits',
      '{"limits":[{"path_type":"prefix","path":"/login","requests":10,"seconds":60,"burst":5}]}',
      /^REQUESTS +SECONDS +BURST +TYPE +PATH\n10 +60 +5 +prefix +\/login\n$/,
    ],
    [
      'redirects',
      '{"redirects":[{"path_type":"prefix","path":"/old","target":"/new","status":301,"keep_query":0}]}',
      /^STATUS +QUERY +TYPE +PATH +TARGET\n301 +dropped +prefix +\/old +\/new\n$/,
    ],
    [
      'headers',
      '{"headers":[{"action":"remove","name":"Server"},{"action":"set","name":"X-A","value":"1"}]}',
      /^ACTION +NAME +VALUE\nremove +Server +-\nset +X-A +1\n$/,
    ],
  ];
  for (const [command, json, shown] of lists) {
    assert.match(await run(command, '1', '--set', write('rules.json', json)), shown);
    const printed = write('printed.json', await run(command, '1', '--json'));
    assert.match(await run(command, '1', '--set', printed), shown);
    await refuses([command, '1', '--set', write('odd.json', '{"rules":[]}')], 'causeway: unknown field rules; ');
  }
});

async function startWithDomain(t: TestContext) {
  const { dataDir } = await startControl(t);
  const execute = (args: string[]) => runCommand(t, ['domain', ...args], { settings: { CAUSEWAY_DATA_DIR: dataDir } });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await execute(args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  await run('add', 'www.example.com', '192.0.2.1');
  const folder = temporaryFolder(t);
  return {
    run,
    async refuses(args: string[], problem: string) {
      const { code, stdout, stderr } = await execute(args);
      assert.deepEqual([code, stdout, stderr.slice(0, problem.length)], [1, '', problem]);
    },
    write(name: string, text: string) {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
  };
}
