/** Domains as files: exported, applied, and refused. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { applyRandom } from '../support/cli/apply-random.ts';
import { startControl } from '../support/cli/control.ts';
import { runCommand } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const FILE = `domain = "www.example.com"
type = "static"
remark = "官网 \\"main\\""

[origin]
data = [ "o.example.net:8080", "origin.example.net" ]

[advanced]
page_compress = true
expires = 60

[policies]
use_header_setting = false

[[policies.policy]]
is_cache = true
priority = 9
policy_type = "suffix"
policy_scheme = "http"
content = "jpg,png"
time_y = 0
time_d = 30
time_h = 0
time_i = 0
time_s = 0

[cache]
set_cookie = "strip"

[ua]
ua_control = true
ua_str = [ "curl", "*bot*" ]
`;

test('a file makes a domain with one revision, and the domain makes the same file', async (t) => {
  const { run, write, client } = await start(t);
  const file = write('d.toml', FILE);
  assert.match(
    await run('apply', file, '--dry-run'),
    /^www\.example\.com: would be added\n {2}origin\.data: null -> \["o\.example/,
  );
  assert.deepEqual((await client.call('domain.list', {})).list, []);
  assert.match(await run('apply', file), /^www\.example\.com: added\n/);
  assert.equal(await run('domain', 'export', 'www.example.com'), FILE);
  const revisions = async () => (await client.call('domain.listRevisions', { domain_id: '1' })).list.length;
  assert.equal(await revisions(), 1);
  assert.equal(await run('apply', file), 'www.example.com: no change\n');
  assert.equal(await revisions(), 1);
});

test('a setting that a file does not name goes back to its default, and a dry run only says so', async (t) => {
  const { run, write } = await start(t);
  await run('apply', write('d.toml', FILE));
  const changed = write(
    'c.toml',
    FILE.replace('expires = 60', 'expires = 90')
      .replace(/\n\[cache\]\n.*\n/, '')
      .replace(/^remark.*\n/m, ''),
  );
  const expected = [
    '  remark: "官网 \\"main\\"" -> ""',
    '  advanced.expires: "60" -> "90"',
    '  cache.set_cookie: "strip" -> "bypass"',
    '',
  ].join('\n');
  assert.equal(await run('apply', changed, '--dry-run'), `www.example.com: would be changed\n${expected}`);
  assert.equal(await run('domain', 'export', '1'), FILE);
  assert.equal(await run('apply', changed), `www.example.com: changed\n${expected}`);
  assert.equal(await run('apply', changed), 'www.example.com: no change\n');
});

test('control characters of a stored text do not reach the terminal', async (t) => {
  const { run, write } = await start(t);
  await run('apply', write('d.toml', FILE));
  const printed = await run('apply', write('c.toml', FILE.replace('官网', '\u009b31m\\u001b[2J')));
  assert.match(printed, /remark: .* -> "\\u009b31m\\u001b\[2J/);
});

test('a file that cannot be read keeps every file from being applied, and names the line', async (t) => {
  const { refuses, write, client } = await start(t);
  const good = write('a.toml', FILE);
  const refused: [string, string][] = [
    [
      FILE.replace('page_compress', 'page_compres'),
      'b.toml:9: advanced.page_compres: unknown key; expected keep_url_params, ',
    ],
    [
      FILE.replace('[cache]', '[caches]'),
      'b.toml:27: caches: unknown key; expected domain, type, icp_no, remark, origin, ',
    ],
    [FILE.replace('priority', 'prio'), 'b.toml:17: policies.policy.prio: unknown key; expected is_cache, '],
    [FILE.replace('= true', '= "yes"'), 'b.toml:9: advanced.page_compress: expected true or false'],
    [FILE.replace('expires = 60', 'expires = inf'), 'b.toml:10: advanced.expires: expected a whole number'],
    [
      FILE.replace('"static"', '"fast"'),
      'b.toml:2: type: expected static, download, video, live, dynamic; found "fast"',
    ],
    [FILE.replace('www.example.com', '12'), 'b.toml:1: domain: expected the name of the domain'],
    [FILE.replace('type =', 'type'), 'b.toml:2: '],
    ['domain = "x.example"\n', 'b.toml: type: expected static'],
    [FILE, `b.toml: ${good} is of the same domain, www.example.com`],
  ];
  for (const [text, said] of refused) await refuses(['apply', good, write('b.toml', text)], said);
  await refuses(['apply', good, '/nowhere.toml'], 'causeway: cannot read /nowhere.toml: no such file or folder');
  assert.deepEqual((await client.call('domain.list', {})).list, []);
});

test('what the service refuses is told with the file and the setting', async (t) => {
  const { run, refuses, write } = await start(t);
  const file = write('d.toml', FILE.replace('expires = 60', 'expires = -1'));
  await refuses(['apply', file], `${file}: field advanced.expires is invalid: expected `);
  await run('apply', write('d.toml', FILE));
  await refuses(
    ['apply', write('d.toml', FILE.replace('static', 'video'))],
    'type: it is "static", and cannot be changed to "video"',
  );
});

test('a dry run of a domain that is not there yet is refused what adding it would be', async (t) => {
  const { refuses, write, client } = await start(t);
  const file = write('d.toml', FILE.replace(/^data = .*$/m, 'data = []'));
  await refuses(['apply', file, '--dry-run'], `${file}: field data is invalid: expected at least one origin address`);
  assert.deepEqual((await client.call('domain.list', {})).list, []);
});

test('a check ends with 1 if a domain differs from its file, and changes nothing', async (t) => {
  const { run, refuses, write } = await start(t);
  const file = write('d.toml', FILE);
  await refuses(['apply', file, '--check'], 'causeway: 1 of 1 domains differ from their files');
  await run('apply', file);
  assert.equal(await run('apply', file, '--check'), 'www.example.com: no change\n');
  await run('domain', 'advanced', '1', '--expires', '61');
  await refuses(['apply', file, '--check'], 'causeway: 1 of 1 domains differ from their files');
  await refuses(['apply', file, '--check', '--if-revision', '1'], /the settings of domain 1 have changed/);
});

test('one of two editors at once is refused, and told the author and the time of the change', async (t) => {
  const { run, refuses, write, client } = await start(t);
  const file = write('d.toml', FILE);
  await run('apply', file);
  const { revision } = await client.call('domain.settings', { domain_id: '1' });
  await run('apply', write('mine.toml', FILE.replace('expires = 60', 'expires = 61')));
  const theirs = write('theirs.toml', FILE.replace('"strip"', '"store"'));
  await refuses(
    ['apply', theirs, '--if-revision', revision],
    /theirs\.toml: the settings of domain 1 have changed: their revision is \d+, not \d+ \(changed by token .*at 20\d\d-.*Z\); the current/,
  );
  assert.match(await run('domain', 'export', '1'), /expires = 61/);
});

test('an account is exported to a folder, and applied from it', async (t) => {
  const { run, folder, client } = await start(t);
  for (const name of ['a.example', '*.b.example']) await run('domain', 'add', name, 'origin.example.net');
  await run('domain', 'add', 'c.example', '--type', 'live');
  const all = join(folder, 'all');
  assert.equal(await run('domain', 'export', '--all', all), `3 domains written to ${all}\n`);
  assert.deepEqual(readdirSync(all).sort(), ['_.b.example.toml', 'a.example.toml', 'c.example.toml']);
  writeFileSync(
    join(all, 'c.example.toml'),
    `${readFileSync(join(all, 'c.example.toml'), 'utf8')}\n[recording]\nrecord = true\n`,
  );
  assert.equal(
    await run('apply', all),
    '*.b.example: no change\na.example: no change\nc.example: changed\n  recording.record: "0" -> "1"\n',
  );
  const { settings } = await client.call('domain.settings', { domain_id: '3' });
  assert.deepEqual(settings.recording, { record: '1', keep_days: 7 });
});

test('certificates are named by their title, and by their key where several have it', needs('openssl'), async (t) => {
  const { run, refuses, write, client } = await start(t);
  const addCertificate = async (ssl_title: string) => {
    const { key: private_key, cert: certificate } = createAuthority(t).issue(['www.example.com']);
    return (await client.call('certificate.add', { ssl_title, private_key, certificate })).ssl_key;
  };
  const key = await addCertificate('example 2026');
  const file = write('d.toml', `${FILE}\n[ssl]\nssl_control = true\nssl_key = "example 2026"\n`);
  await run('apply', file);
  assert.equal((await client.call('config.getSsl', { domain_id: '1' })).ssl_key, key);
  assert.match(await run('domain', 'export', '1'), /ssl_key = "example 2026"/);
  await addCertificate('example 2026');
  assert.match(await run('domain', 'export', '1'), new RegExp(`ssl_key = "${key}"`));
  await refuses(['apply', file], 'ssl: several certificates have the title "example 2026"; name one by its key');
  await refuses(
    ['apply', write('e.toml', `${FILE.replace('www.', 'w.')}\n[ssl]\nssl_control = true\nssl_key = "x"\n`)],
    'ssl: the account has no certificate "x"',
  );
});

test('earlier settings are listed and set back, and the audit trail says who changed them', async (t) => {
  const { run, write } = await start(t);
  await run('apply', write('d.toml', FILE));
  await run('domain', 'advanced', '1', '--expires', '99');
  const listed = (await run('domain', 'revisions', '1')).split('\n');
  assert.match(listed[0] ?? '', /^REVISION +TIME +WHO +OPERATION$/);
  assert.match(listed[1] ?? '', /token 1 .* config\.setAdvanced$/);
  const first = /^\d+/.exec(listed[2] ?? '')?.[0] ?? '';
  assert.equal(
    await run('domain', 'revert', '1', first, '--only', 'advanced', '--dry-run'),
    'advanced.expires: "99" -> "60"\n',
  );
  assert.equal(await run('domain', 'revert', '1', first), 'advanced.expires: "99" -> "60"\n');
  const audit = (await run('audit', 'list', '--domain', '1')).split('\n');
  assert.match(
    audit[1] ?? '',
    /^\d+ +20\d\d-.* token 1 .* domain\.revert +domain www\.example\.com +advanced\.expires$/,
  );
  const shown = await run('audit', 'show', /^\d+/.exec(audit[1] ?? '')?.[0] ?? '');
  assert.match(shown, /^operation +domain\.revert$/m);
  assert.match(shown, /^advanced\.expires: "99" -> "60"$/m);
  const everywhere = (await run('audit', 'list', '--operator', '--operation', 'domain.add')).split('\n');
  assert.match(everywhere[0] ?? '', /^EVENT +TIME +ACCOUNT +WHO +OPERATION +TARGET/);
  assert.match(everywhere[1] ?? '', /^\d+ +20\d\d-\S+ +1 +token 1 .* domain\.add +domain www\.example\.com/);
  const one = await run('audit', 'show', '--operator', /^\d+/.exec(everywhere[1] ?? '')?.[0] ?? '');
  assert.match(one, /^account +1$/m);
  assert.doesNotMatch(shown, /^account /m);
});

test('random domains are applied, exported to the octet, and not changed by applying them again', async (t) => {
  await applyRandom(t, 15);
});

async function start(t: TestContext) {
  const { dataDir, controlUrl, token } = await startControl(t);
  const folder = temporaryFolder(t);
  const command = (args: readonly string[]) => runCommand(t, [...args, '--data-dir', dataDir]);
  return {
    folder,
    client: createClient({ baseUrl: controlUrl, accessToken: token, locale: 'en' }),
    write(name: string, text: string): string {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    async run(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await command(args);
      assert.equal(code, 0, stderr);
      return stdout;
    },
    async refuses(args: readonly string[], said: string | RegExp): Promise<void> {
      const { code, stderr } = await command(args);
      assert.equal(code, 1);
      if (typeof said === 'string') assert.ok(stderr.includes(said), `${stderr} has not ${said}`);
      else assert.match(stderr, said);
    },
  };
}
