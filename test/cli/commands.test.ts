/** The command line as people use it: with the service running and stopped, in words and as JSON. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type LocalControl, startControl } from '../support/cli/control.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand, runProcess, startService } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const CONTROL = { settings: { CAUSEWAY_ROLES: 'control' } };

type Run = (...args: string[]) => Promise<string>;

test('accounts and tokens are managed while the service runs, and a token works at once', async (t) => {
  const service = await startControl(t);
  const run = runner(t, service.dataDir);
  await manageAccounts(run, '2');
  const created = JSON.parse(
    await run('token', 'create', '2', '--scopes', 'cdn,sms', '--expires', '2099-12-31', '--json'),
  );
  assert.match(
    await run('token', 'list', '2'),
    new RegExp(`^${created.token_id} .* 2099-12-31T23:59:59\\+08:00 +no`, 'm'),
  );
  assert.match(
    await run('token', 'create', '2', '--scopes', 'cdn', '--expires', '2099-12-31'),
    /^expires 2099-12-31T23:59:59\+08:00$/m,
  );
  const tokenFile = join(temporaryFolder(t), 'token');
  writeFileSync(tokenFile, `${created.access_token}\n`);
  const list = ['domain', 'list', '--token-file', tokenFile];
  assert.equal(await run(...list), 'ID  NAME  STATUS  ORIGINS\n');
  assert.equal(await run('account', 'disable', '2'), 'account 2 disabled\n');
  await refuses(t, service, list, 'causeway: the account is disabled\n');
  assert.equal(await run('account', 'enable', '2'), 'account 2 enabled\n');
  await run('token', 'revoke', '2', created.token_id);
  await refuses(t, service, list, 'causeway: access_token has been revoked\n');
});

test('accounts and tokens are managed while the service is stopped', async (t) => {
  const { dataDir, stop } = await startService(t, CONTROL);
  await stop();
  const run = runner(t, dataDir);
  await manageAccounts(run, '2');
  const created = JSON.parse(await run('token', 'create', '2', '--scopes', 'cdn', '--json'));
  const service = await startService(t, { ...CONTROL, dataDir });
  const settings = { CAUSEWAY_TOKEN: created.access_token, CAUSEWAY_URL: service.controlUrl };
  const listed = await runCommand(t, ['domain', 'list', '--json'], { settings });
  assert.deepEqual([listed.code, listed.stdout], [0, '[]\n']);
});

async function manageAccounts(run: Run, account: string): Promise<void> {
  assert.equal(await run('account', 'create', '示例 Media'), `account ${account}\n`);
  assert.match(await run('account', 'list'), new RegExp(`^${account} +customer +on +\\d{4}-.* +示例 Media$`, 'm'));
  const [, first] = /^token (\d+)\ncwy_[\w-]{43}\n$/.exec(
    await run('token', 'create', account, '--scopes', 'cdn,sms', '--label', 'deploy', '--from', '127.0.0.0/8,::1'),
  ) ?? [''];
  assert.ok(first !== undefined);
  assert.equal(await run('token', 'narrow', account, first, '--scopes', 'cdn'), `scopes of token ${first}: cdn\n`);
  assert.match(
    await run('token', 'list', account),
    new RegExp(
      `^${first} +cdn +read,write,manage,money +all +\\S+T\\S+\\+08:00 +never +no +never +127\\.0\\.0\\.0/8,::1 +deploy$`,
      'm',
    ),
  );
  const limits = await run('token', 'narrow', account, first, '--access', 'read,write');
  assert.equal(limits, `access of token ${first}: read, write\n`);
  assert.equal(await run('token', 'revoke', account, first), `token ${first} revoked\n`);
  assert.match(
    await run('token', 'list', account),
    new RegExp(`^${first} +cdn .* never +\\d{4}-\\S+ +never +\\S+ +deploy$`, 'm'),
  );
}

test('a command waits and repeats a call that is rate-limited', async (t) => {
  const limits = { CAUSEWAY_TOKEN_RATE_PER_SECOND: '2', CAUSEWAY_TOKEN_RATE_BURST: '1' };
  const service = await startControl(t, limits);
  const run = runner(t, service.dataDir);
  await run('domain', 'add', 'www.example.com', '192.0.2.1');
  assert.match(await run('domain', 'show', 'www.example.com'), /^id +1$/m, 'it is looked up by its name first');
});

test('domains are managed by name and by id', async (t) => {
  const service = await startControl(t);
  const run = runner(t, service.dataDir);
  const added = await run('domain', 'add', 'www.example.com', '192.0.2.1', 'o.example.net:8080', '--type', 'download');
  assert.match(added, /^id +1$/m);
  assert.match(added, /^origins +192\.0\.2\.1 o\.example\.net:8080$/m);
  const shown = JSON.parse(await run('domain', 'show', 'WWW.example.com', '--json'));
  assert.deepEqual([shown.domain_name, shown.cdn_type_id], ['www.example.com', '2']);
  const changed = await run(
    'domain',
    'origin',
    '1',
    '--backup',
    'b.example.net,c.example.net',
    '--backup',
    'd.example.net',
    'new.example.net',
    '--source-type',
    'https',
  );
  assert.match(changed, /^origins +new\.example\.net$/m);
  assert.match(changed, /^backup +b\.example\.net c\.example\.net d\.example\.net$/m);
  assert.match(changed, /^origin scheme +https$/m);
  assert.match(await run('domain', 'remark', '1', 'our shop'), /^remark +our shop$/m);
  assert.match(await run('domain', 'close', 'www.example.com'), /^status +being closed$/m);
  assert.match(await run('domain', 'open', 'www.example.com'), /^status +being configured$/m);
  assert.match(await run('domain', 'list', '--name', 'example'), /^1 +www\.example\.com +being configured/m);
  const own = ['--type', '4', '--source-type', 'follow', '--monitor-url', 'http://live.example.com/up'];
  const live = JSON.parse(await run('domain', 'add', 'live.example.com', '192.0.2.1', ...own, '--json'));
  assert.deepEqual(
    [live.cdn_type_id, live.source_type, live.monitor_url],
    ['4', 'protocol_follow', 'http://live.example.com/up'],
  );
  await run('domain', 'close', 'live.example.com');
  const idsOf = async (...args: string[]) => [...(await run('domain', 'list', ...args)).matchAll(/^\d+/gm)].map(String);
  assert.deepEqual(await idsOf('--status', 'closed'), ['2']);
  assert.deepEqual(await idsOf('--page-size', '1'), ['1', '2']);
  assert.deepEqual(await idsOf('--page', '2', '--page-size', '1'), ['2']);
  assert.equal(await run('domain', 'rm', 'www.example.com'), 'www.example.com deleted\n');
  await refuses(t, service, ['domain', 'show', '1'], 'causeway: domain 1 does not exist\n');
  await refuses(t, service, ['domain', 'show', 'www.example.com'], 'causeway: domain www.example.com does not exist\n');
});

test('caches are purged and filled, and a task is shown; cache options are changed', async (t) => {
  const service = await startControl(t);
  const run = runner(t, service.dataDir);
  await run('domain', 'add', 'www.example.com', '192.0.2.1');
  const url = 'http://www.example.com/a.jpg';
  const purged = await run(
    'cache',
    'purge',
    '--directory',
    'http://www.example.com/b,b/',
    '--directory',
    'http://www.example.com/c/',
    url,
  );
  assert.match(purged, /^task +1\nkind +purge\nstate +running\n/);
  assert.match(purged, /^waiting +0 +0 +http:\/\/www\.example\.com\/c\/ +-$/m);
  assert.match(await run('cache', 'purge', '--domain', 'www.example.com'), /^waiting +0 +0 +www\.example\.com/m);
  assert.match(await run('cache', 'prefetch', url), /^kind +prefetch$/m);
  assert.deepEqual(JSON.parse(await run('cache', 'task', '3', '--json')).items.length, 1);
  await refuses(t, service, ['cache', 'purge'], 'causeway: there is nothing to purge: expected URLs, --directory or');
  await refuses(t, service, ['cache', 'purge', url, '--domain', '1'], 'causeway: --domain purges the whole domain and');
  await refuses(t, service, ['cache', 'task', '9'], 'causeway: task 9 does not exist');
  const shown = await run('domain', 'cache-options', 'www.example.com');
  assert.match(shown, /^set-cookie +bypass\nrequest-directives +off\nheuristic-cap +3600 s\n/);
  const changed = await run('domain', 'cache-options', '1', '--set-cookie', 'strip', '--request-directives', 'on');
  assert.match(changed, /^set-cookie +strip\nrequest-directives +on\nheuristic-cap +3600 s\n/);
  await refuses(t, service, ['domain', 'cache-options', '1', '--stale-cap', 'x'], 'causeway: --stale-cap is invalid');
});

test('an operator disables, enables and transfers domains', async (t) => {
  const service = await startControl(t);
  const run = runner(t, service.dataDir);
  await run('domain', 'add', 'www.example.com', '192.0.2.1');
  await run('account', 'create', 'Other');
  assert.equal(await run('operator', 'domain', 'disable', '1', '1'), 'domain 1 disabled\n');
  assert.match(await run('domain', 'show', '1'), /^status +disabled$/m);
  await refuses(
    t,
    service,
    ['operator', 'domain', 'approve', '1', '1'],
    'causeway: domain 1 is disabled (6); only a domain ',
  );
  assert.equal(await run('operator', 'domain', 'enable', '1', '1'), 'domain 1 enabled\n');
  assert.equal(await run('operator', 'domain', 'transfer', '1', '1', '2'), 'domain 1 transferred to account 2\n');
  await refuses(t, service, ['domain', 'show', '1'], 'causeway: domain 1 does not exist\n');
});

test('a token that is named is used, even by commands that need none', async (t) => {
  const service = await startControl(t);
  const run = runner(t, service.dataDir);
  await run('account', 'create', 'Other');
  const [, token = ''] = (await run('token', 'create', '2', '--scopes', 'cdn')).split('\n');
  const file = join(temporaryFolder(t), 'token');
  writeFileSync(file, token);
  const problem = "causeway: this command needs an operator's access token, not a customer's; ";
  for (const args of [
    ['operator', 'domain', 'list'],
    ['account', 'list'],
    ['call', 'operator.listAccounts'],
  ])
    await refuses(t, service, [...args, '--token-file', file], problem);
  const first = ['account', 'list', '--token-file', join(service.dataDir, 'first-token')];
  assert.match(await run(...first), /^2 +customer .*Other$/m);
});

test('closing and deleting a domain wait until no edge serves it', async (t) => {
  const service = await startService(t, { settings: { CAUSEWAY_EDGE_WORKERS: '1' } });
  const run = runner(t, service.dataDir);
  await run('domain', 'add', 'www.example.com', '192.0.2.1', '--wait');
  await run('domain', 'cache-options', '--stale-cap', '1', '1', '--wait');
  assert.match(await run('domain', 'remark', '1', 'x', '--wait'), /^status +accelerating$/m);
  assert.match(await run('domain', 'close', '1', '--wait'), /^status +closed$/m);
  assert.match(await run('domain', 'open', '1', '--wait'), /^status +accelerating$/m);
  assert.equal(await run('domain', 'rm', '1', '--wait'), '1 deleted\n');
});

test('an operator reviews domains', async (t) => {
  const service = await startControl(t, { CAUSEWAY_REVIEW: 'manual' });
  const run = runner(t, service.dataDir);
  assert.match(await run('domain', 'add', 'www.example.com', '192.0.2.1'), /^status +waiting for review$/m);
  const shop = ['domain', 'add', 'shop.example.com', '192.0.2.1', '--wait'];
  await refuses(t, service, shop, "causeway: domain 2 is waiting for an operator's review\n");
  assert.match(await run('operator', 'domain', 'list', '--pending'), /^1 .*\n2 .* waiting for review\n$/m);
  assert.equal(await run('operator', 'domain', 'approve', '1', 'www.example.com'), 'domain 1 approved\n');
  assert.equal(await run('operator', 'domain', 'reject', '1', '2'), 'domain 2 rejected\n');
  assert.equal(await run('operator', 'domain', 'list', '--pending'), 'ID  ACCOUNT  NAME  STATUS\n');
  assert.match(await run('domain', 'list'), /^1 .* being configured .*\n2 .* review rejected /m);
});

test('an operator finds a domain of any account, and addresses it by its name', async (t) => {
  const service = await startControl(t);
  const run = runner(t, service.dataDir);
  await run('domain', 'add', 'www.example.com', '192.0.2.1');
  await run('domain', 'add', '*.例子.com', '192.0.2.1');
  await run('account', 'create', 'Other');
  const heading = /^ID +ACCOUNT +NAME +STATUS$/m;
  const all = await run('operator', 'domain', 'list');
  assert.match(all, heading);
  assert.match(all, /^1 +1 +www\.example\.com +being configured$/m);
  assert.match(all, /^2 +1 +\*\.xn--fsqu00a\.com +being configured$/m);
  assert.equal((await run('operator', 'domain', 'list', '--name', 'Example')).split('\n').length, 3);
  assert.equal((await run('operator', 'domain', 'list', '--name', 'example', '--exact')).split('\n').length, 2);
  assert.deepEqual(JSON.parse(await run('operator', 'domain', 'list', '--account', '2', '--json')), []);
  assert.equal(await run('operator', 'domain', 'disable', '1', 'WWW.example.com'), 'domain 1 disabled\n');
  assert.equal(await run('operator', 'domain', 'enable', '1', 'www.example.com'), 'domain 1 enabled\n');
  assert.equal(
    await run('operator', 'domain', 'transfer', '1', '*.例子.com', '2'),
    'domain 2 transferred to account 2\n',
  );
  await run('operator', 'domain', 'disable', '1', '1');
  assert.match(
    await run('operator', 'domain', 'list', '--status', 'disabled'),
    /^ID .*\n1 +1 +www\.example\.com +disabled\n$/,
  );
  const unknown = ['operator', 'domain', 'reject', '2', 'www.example.com'];
  await refuses(t, service, unknown, 'causeway: account 2 has no domain www.example.com\n');
});

test('any operation can be called; its fields are checked before they are sent', async (t) => {
  const service = await startControl(t);
  const run = runner(t, service.dataDir);
  const request = { domain: 'www.example.com', cdn_type: 1, data: ['origin.example.net'] };
  assert.deepEqual(JSON.parse(await run('call', 'domain.add', '--json', JSON.stringify(request))), { domain_id: '1' });
  assert.equal(JSON.parse(await run('call', 'operator.listAccounts')).total, 1);
  const rows: [string[], string][] = [
    [['domain.add', '--json', '{}'], 'field domain is missing: expected a domain name such as'],
    [
      ['domain.get', '--json', '{"domain_id":0}'],
      'field domain_id is invalid: expected an integer from 1 to 2147483647; found 0',
    ],
    [
      ['config.setCacheOptions', '--json', '{"domain_id":1,"stale_caps":1}'],
      'unknown field stale_caps; fields of config.setCacheOptions: domain_id, set_cookie, request_directives, ',
    ],
    [
      [
        'config.setPolicies',
        '--json',
        '{"domain_id":1,"use_header_setting":0,"policy":[{"is_cache":1,"prioritiy":3}]}',
      ],
      'unknown field policy[0][prioritiy]; fields of each of policy: is_cache, priority, policy_type, ',
    ],
    [['domain.get', '--json', '{"domain_id":9}'], 'domain 9 does not exist'],
    [['domain.get', '--json', '{'], '--json is not valid JSON: '],
    [['domain.get', '--json', '[]'], '--json: expected a JSON object'],
    [['domain.fetch'], 'unknown operation domain.fetch'],
  ];
  for (const [args, problem] of rows) await refuses(t, service, ['call', ...args], `causeway: ${problem}`);
});

test('commands without a service say what to do', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const tokenFile = join(temporaryFolder(t), 'token');
  writeFileSync(tokenFile, 'x');
  const rows: [string[], string][] = [
    [
      ['domain', 'list', '--data-dir', dataDir],
      `causeway: no service is running from ${dataDir}; start it with "causeway serve"`,
    ],
    [['domain', 'list', '--url', 'http://127.0.0.1:4'], 'causeway: an access token is required'],
    [
      ['domain', 'list', '--token-file', '/nowhere'],
      'causeway: token-file (--token-file): /nowhere cannot be read: no such file or folder',
    ],
    [['token', 'create', '1', '--scopes', 'cdn', '--expires', '2027-02-30'], 'causeway: --expires: expected a day'],
    [['traffic', 'top', 'urls'], 'causeway: <kind>: expected url, referer, client, status, not urls\n'],
    [
      ['traffic', 'sums', '--from', 'noon', '--url', 'http://127.0.0.1:4', '--token-file', tokenFile],
      'causeway: --from: expected a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z\n',
    ],
    [['token', 'create', '1'], "error: required option '--scopes <list>' not specified"],
    [['domane'], "error: unknown command 'domane'"],
  ];
  for (const [args, problem] of rows) {
    const { code, stdout, stderr } = await runCommand(t, args);
    assert.deepEqual([code, stdout, stderr.slice(0, problem.length)], [1, '', problem], args.join(' '));
    assert.doesNotMatch(stderr, /^ +at /m);
  }
  const database = await runCommand(t, ['account', 'list', '--data-dir', madeByServe(t)], {
    settings: { DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/none' },
  });
  assert.match(database.stderr, /^causeway: cannot use the database postgres:\/\/me@127.*ECONNREFUSED.*\n$/);
  const unreachable = await runCommand(t, ['domain', 'list', '--url', 'http://127.0.0.1:4'], {
    settings: { CAUSEWAY_TOKEN: 'x' },
  });
  assert.match(unreachable.stderr, /^causeway: the service cannot be reached: .*ECONNREFUSED.*\n$/);
});

test('the settings in force are shown with their sources, secrets as stars', async (t) => {
  const cwd = temporaryFolder(t);
  writeFileSync(join(cwd, 'causeway.toml'), 'edge-workers = 3\n');
  const settings = { CAUSEWAY_LOCALE: 'en', CAUSEWAY_BOOTSTRAP_TOKEN: 'hush-'.repeat(8) };
  const { code, stdout } = await runCommand(t, ['config', '--edge-id', 'a'], { cwd, settings });
  assert.equal(code, 0);
  assert.match(stdout, /^edge-workers +3 +.*causeway\.toml$/m);
  assert.match(stdout, /^locale +en +CAUSEWAY_LOCALE$/m);
  assert.match(stdout, /^edge-id +a +--edge-id$/m);
  assert.match(stdout, /^control-listen +127\.0\.0\.1:8700 +default$/m);
  assert.match(stdout, /^bootstrap-token +\*\*\* +CAUSEWAY_BOOTSTRAP_TOKEN$/m);
  const json: unknown = JSON.parse((await runCommand(t, ['config', '--json'], { cwd, settings })).stdout);
  assert.ok(Array.isArray(json) && json.some(({ name, value }) => name === 'locale' && value === 'en'));
});

test('commands wait for a service that has just been started', async (t) => {
  const service = await startService(t, CONTROL);
  await service.stop();
  const restarting = startService(t, { ...CONTROL, dataDir: service.dataDir });
  await eventually('it is starting', async () => {
    const { code, stdout } = await runCommand(t, ['account', 'list', '--data-dir', service.dataDir]);
    return code === 0 && stdout.includes('first');
  });
  await restarting;
});

test('a command creates no data directory, and leaves a directory of other files unchanged', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'empty'));
  mkdirSync(join(folder, 'home'), { mode: 0o755 });
  writeFileSync(join(folder, 'home', 'letter.txt'), '');
  const none = (name: string) =>
    `causeway: no installation found in ${join(folder, name)}; start it with "causeway serve"`;
  const rows: [string[], string, string][] = [
    [['account', 'create', 'a'], 'none', none('none')],
    [['account', 'list'], 'empty', none('empty')],
    [['token', 'list', '1'], 'home', `causeway: ${join(folder, 'home')} contains other files and is not a causeway`],
    [['serve'], 'home', `causeway: the data directory cannot be used: ${join(folder, 'home')} contains other files`],
  ];
  for (const [args, name, problem] of rows) {
    const run = args[0] === 'serve' ? runProcess : runCommand;
    const { code, stderr } = await run(t, [...args, '--data-dir', join(folder, name)]);
    assert.deepEqual([code, stderr.slice(0, problem.length)], [1, problem]);
  }
  assert.deepEqual(readdirSync(folder, { recursive: true }).toSorted(), ['empty', 'home', join('home', 'letter.txt')]);
  assert.equal(statSync(join(folder, 'home')).mode & 0o777, 0o755);
});

test('commands in a copy of the data directory do not reach the service of the original', async (t) => {
  const service = await startControl(t);
  const copy = `${service.dataDir}-copy`;
  cpSync(service.dataDir, copy, { recursive: true, filter: (source) => !source.endsWith('.sock') });
  const customer = await runCommand(t, ['domain', 'list', '--data-dir', copy]);
  assert.match(customer.stderr, /^causeway: no service is running from /);
  await runner(t, copy)('account', 'create', 'Only in the copy');
  assert.doesNotMatch(await runner(t, service.dataDir)('account', 'list'), /Only in the copy/);
});

/** Makes a data directory as a first start with PostgreSQL leaves it. */
function madeByServe(t: TestContext): string {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'lock'), '');
  return folder;
}

function runner(t: TestContext, dataDir: string): Run {
  return async (...args) => {
    const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: dataDir } });
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  };
}

async function refuses(t: TestContext, { dataDir }: LocalControl, args: string[], problem: string): Promise<void> {
  const { code, stdout, stderr } = await runCommand(t, args, { settings: { CAUSEWAY_DATA_DIR: dataDir } });
  assert.deepEqual([code, stdout, stderr.slice(0, problem.length)], [1, '', problem]);
}
