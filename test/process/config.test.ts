/** Settings: sources and their order, every problem at once, and that docs/operations.md says the same as the program. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ConfigInput, loadConfig, readSettingsFile } from '#config';
import { type Setting, settingName, settingVariable } from '#lib/settings.ts';
import { SETTINGS } from '../../src/settings.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('the defaults are a complete configuration', () => {
  const { config } = mustLoad({});
  assert.equal(config.dataDir, '/srv/data');
  assert.equal(config.feedSocket, '/srv/data/run/feed.sock');
  assert.deepEqual(config.controlListen, { host: '127.0.0.1', port: 8700 });
  assert.deepEqual(config.edgeHttpListen, { host: '::', port: 8080 });
  assert.deepEqual(config.edgeHttpsListen, { host: '::', port: 8443 });
  assert.equal(mustLoad({ flags: { 'edge-https-listen': 'off' } }).config.edgeHttpsListen, 'off');
  assert.deepEqual(config.roles, ['control', 'edge', 'live', 'dns']);
  assert.deepEqual(
    [config.rtmpListen, config.rtmpsListen, config.livePushAuth],
    [{ host: '::', port: 1935 }, 'off', 'off'],
  );
  assert.deepEqual([config.edgeTrustedProxies, config.edgeProxyProtocol], [[], 'off']);
  assert.equal(config.cacheMemoryBytes, 256 * 2 ** 20);
  assert.equal(config.databaseUrl, undefined);
  assert.ok(config.edgeWorkers >= 1);
});

test('a flag takes precedence over the environment, which does over the file, which does over the default', () => {
  const file = {
    path: '/srv/causeway.toml',
    text: 'edge-id = "file"\nlog-level = "warn"\ncname-suffix = "file.example"',
  };
  const env = { CAUSEWAY_EDGE_ID: 'env', CAUSEWAY_LOG_LEVEL: 'error' };
  const { config, sources } = mustLoad({ file, env, flags: { 'edge-id': 'flag' } });
  assert.deepEqual([config.edgeId, config.logLevel, config.cnameSuffix], ['flag', 'error', 'file.example']);
  const sourceOf = (name: string) => sources.find((setting) => setting.name === name)?.source;
  assert.deepEqual(['edge-id', 'log-level', 'cname-suffix', 'locale'].map(sourceOf), [
    '--edge-id',
    'CAUSEWAY_LOG_LEVEL',
    '/srv/causeway.toml',
    'default',
  ]);
});

test('a token file named by a flag takes precedence over a token of the environment', (t) => {
  const path = join(temporaryFolder(t), 'token');
  writeFileSync(path, 'named\n');
  const env = { CAUSEWAY_TOKEN: 'around' };
  assert.equal(mustLoad({ env }).config.token, 'around');
  assert.equal(mustLoad({ env: { ...env, CAUSEWAY_TOKEN_FILE: path } }).config.token, 'around');
  assert.equal(mustLoad({ env, flags: { 'token-file': path } }).config.token, 'named');
});

test('the settings file accepts numbers and arrays', () => {
  const text = 'edge-workers = 3\norigin-allow = ["10.0.0.0/8", "::1"]\ncache-memory = "2 GB"';
  const { config } = mustLoad({ file: { path: 'causeway.toml', text } });
  assert.deepEqual([config.edgeWorkers, config.originAllow], [3, ['10.0.0.0/8', '::1']]);
  assert.equal(config.cacheMemoryBytes, 2 * 2 ** 30);
});

test('all problems are reported at once, each with its source and what was expected', () => {
  const problems = mustFail({
    flags: { 'edge-workers': '0' },
    env: {
      CAUSEWAY_CONTROL_LISTN: '127.0.0.1:1',
      CAUSEWAY_TIME_ZONE: 'Mars/Olympus',
      CAUSEWAY_BOOTSTRAP_TOKEN: 'hush',
    },
    file: { path: '/srv/causeway.toml', text: 'locale = "fr"\nedge-idd = "a"\nroles = { a = 1 }' },
  });
  assert.deepEqual(problems.toSorted(), [
    'CAUSEWAY_CONTROL_LISTN (environment): unknown setting; did you mean CAUSEWAY_CONTROL_LISTEN?',
    'bootstrap-token (CAUSEWAY_BOOTSTRAP_TOKEN): expected at least 32 printable characters without spaces',
    'edge-idd (/srv/causeway.toml): unknown setting; did you mean edge-id?',
    'edge-workers (--edge-workers): expected auto or a whole number from 1 to 256, not "0"',
    'locale (/srv/causeway.toml): expected zh-CN or en, not "fr"',
    'roles (/srv/causeway.toml): expected a text, a number or an array of texts',
    'time-zone (CAUSEWAY_TIME_ZONE): expected a time zone such as Asia/Shanghai, not "Mars/Olympus"',
  ]);
});

test('a mistake in the file has its line and column', () => {
  const problems = mustFail({ file: { path: '/srv/causeway.toml', text: 'locale = "en"\nedge-id = a\n' } });
  assert.match(problems.join(), /^config \(\/srv\/causeway\.toml, line 2, column \d+\): /);
});

test("a wrong database URL is refused by its setting's name, beside all other problems, and is not shown", () => {
  const env = {
    DATABASE_URL: 'postgres://u:hu/sh@h/x',
    DATABASE_LISTEN_URL: 'postgres://[hush',
    CAUSEWAY_LOCALE: 'fr',
  };
  const problems = mustFail({ env });
  assert.equal(problems.length, 3);
  assert.match(problems.join('\n'), /^database-url \(DATABASE_URL\): expected postgres:\/\/user:password@host/m);
  assert.match(problems.join('\n'), /^database-listen-url \(DATABASE_LISTEN_URL\): expected/m);
  assert.doesNotMatch(problems.join('\n'), /hu\/?sh/);
});

test('values out of range or of the wrong form are refused', () => {
  const rows: [keyof typeof SETTINGS, string[]][] = [
    ['controlListen', ['8700', 'localhost', '127.0.0.1:99999', '']],
    ['cacheMemory', ['12', '1023KB', '-1', '1025GB', '256M B']],
    ['cacheDiskSize', ['12', '2000GB', 'none']],
    ['roles', ['', 'control,dns', 'control,web', 'control,edge,live,dns,dns']],
    ['dnsListen', ['localhost:53', '53']],
    ['dnsRoutingZone', ['r.cdn.localhost', 'cdn.localhost', 'R.example']],
    ['dnsNameServers', ['ns.r.localhost', 'ns1.cdn.localhost', 'ns_1']],
    ['dnsNetworks', ['10.0.0.0/8', '10.0.0.0/33=eu', '10.0.0.0/8=EU']],
    ['dnsDefaultLocation', ['91,0', 'Berlin']],
    ['edgeAddresses', ['', '192.0.2.1,', 'edge.example', 'auto,192.0.2.1']],
    ['edgeCoordinates', ['0,181']],
    ['edgeWeight', ['101']],
    [
      'databaseUrl',
      ['mysql://a/b', 'postgres://', 'postgres://[bad', 'postgres://u:pa/ss@h/x', 'postgres://h:99999/x'],
    ],
    ['url', ['http://', 'http://[bad', 'http://h:99999', 'http://u:p@h', 'h:80']],
    ['trustedProxies', ['10.0.0.0/33', 'proxy.example']],
    ['edgeTrustedProxies', ['10.0.0.0/33', 'proxy.example', '*']],
    ['edgeProxyProtocol', ['on', 'v2', '']],
    ['edgeWorkers', ['257', '-1', '1.5', 'many']],
    ['edgeId', ['', '-a', 'a b', 'x'.repeat(64)]],
    ['cacheMemory', ['-1', '1TB', 'lots']],
    ['originAllow', ['everything']],
    ['cnameSuffix', ['', '.a', 'A.example', 'a..b']],
    ['domainStatusAs', ['number']],
    ['tokenRatePerSecond', ['0', '100001']],
    ['tokenRateBurst', ['0']],
    ['failedTokensPerMinute', ['0']],
    ['logLevel', ['verbose']],
    ['url', ['control.example', 'ftp://a']],
    ['dataDir', ['']],
  ];
  for (const [key, texts] of rows)
    for (const text of texts) {
      const problems = mustFail({ flags: { [settingName(key)]: text } });
      assert.equal(problems.length, 1, `${key}=${text}`);
      assert.match(problems[0] ?? '', /: expected /);
    }
});

test('storage that speaks S3 needs all of its settings', () => {
  const env = { CAUSEWAY_LOG_STORE: 's3://logs/access/2026' };
  assert.deepEqual(mustFail({ env }), [
    'log-store (CAUSEWAY_LOG_STORE): S3 storage requires log-s3-endpoint, log-s3-access-key and log-s3-secret-key',
  ]);
  const more = {
    CAUSEWAY_LOG_S3_ENDPOINT: 'https://s3.example',
    CAUSEWAY_LOG_S3_ACCESS_KEY: 'key',
    CAUSEWAY_LOG_S3_SECRET_KEY: 'secret',
  };
  const { config } = mustLoad({ env: { ...env, ...more } });
  assert.deepEqual(config.logStore, {
    kind: 's3',
    endpoint: 'https://s3.example',
    region: 'us-east-1',
    bucket: 'logs',
    prefix: 'access/2026',
    credentials: { accessKey: 'key', secretKey: 'secret' },
  });
});

test('External Account Binding needs both of its keys', () => {
  const directory = { CAUSEWAY_ACME_DIRECTORY: 'https://ca.example/dir' };
  const keyId = { CAUSEWAY_ACME_EAB_KEY_ID: 'kid-1' };
  const macKey = { CAUSEWAY_ACME_EAB_MAC_KEY: 'AAECAwQFBgcICQoLDA0ODw-_' };
  assert.deepEqual(mustFail({ env: { ...directory, ...keyId } }), [
    'acme-eab-mac-key (default): acme-eab-key-id and acme-eab-mac-key must be set together',
  ]);
  assert.deepEqual(mustFail({ env: { ...directory, ...macKey } }), [
    'acme-eab-key-id (default): acme-eab-key-id and acme-eab-mac-key must be set together',
  ]);
  const [problem] = mustFail({ env: { ...directory, ...keyId, CAUSEWAY_ACME_EAB_MAC_KEY: 'not a key' } });
  assert.equal(problem, 'acme-eab-mac-key (CAUSEWAY_ACME_EAB_MAC_KEY): expected a key in base64url');
  const { config, sources } = mustLoad({ env: { ...directory, ...keyId, ...macKey } });
  assert.deepEqual(config.acme?.binding, { keyId: 'kid-1', macKey: macKey.CAUSEWAY_ACME_EAB_MAC_KEY });
  assert.doesNotMatch(JSON.stringify(sources), /AAECAw/);
});

test('the PROXY protocol can only be required of proxies that are named', () => {
  const env = { CAUSEWAY_EDGE_PROXY_PROTOCOL: 'required' };
  assert.deepEqual(mustFail({ env }), [
    'edge-proxy-protocol (CAUSEWAY_EDGE_PROXY_PROTOCOL): requires edge-trusted-proxies',
  ]);
  const both = { ...env, CAUSEWAY_EDGE_TRUSTED_PROXIES: '10.0.0.0/8,2001:db8::1' };
  const { config } = mustLoad({ env: { ...both, CAUSEWAY_LIVE_PUSH_AUTH: 'required' } });
  assert.deepEqual([config.edgeTrustedProxies, config.edgeProxyProtocol], [['10.0.0.0/8', '2001:db8::1'], 'required']);
});

test('RTMP behind proxies needs required publishing keys, or it is off', () => {
  const env = { CAUSEWAY_EDGE_PROXY_PROTOCOL: 'required', CAUSEWAY_EDGE_TRUSTED_PROXIES: '10.0.0.0/8' };
  assert.deepEqual(mustFail({ env }), [
    'live-push-auth (default): with edge-proxy-protocol it must be `required`, unless rtmp-listen and rtmps-listen are off',
  ]);
  mustLoad({ env: { ...env, CAUSEWAY_RTMP_LISTEN: 'off' } });
  mustLoad({ env: { ...env, CAUSEWAY_ROLES: 'control,edge' } });
  assert.equal(
    mustFail({ env: { ...env, CAUSEWAY_RTMP_LISTEN: 'off', CAUSEWAY_RTMPS_LISTEN: '[::]:1936' } }).length,
    1,
  );
});

test('control listens beyond loopback only with TLS or trusted proxies', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'cert.pem'), 'C');
  writeFileSync(join(folder, 'key.pem'), 'K');
  const env = { CAUSEWAY_CONTROL_LISTEN: '0.0.0.0:8700' };
  const tls = { CAUSEWAY_CONTROL_TLS_CERT: 'cert.pem', CAUSEWAY_CONTROL_TLS_KEY: 'key.pem' };
  assert.match(
    mustFail({ env })[0] ?? '',
    /^control-listen \(CAUSEWAY_CONTROL_LISTEN\): an address other than loopback/,
  );
  mustLoad({ env: { ...env, CAUSEWAY_TRUSTED_PROXIES: '10.0.0.1' } });
  assert.deepEqual(mustLoad({ cwd: folder, env: { ...env, ...tls } }).config.controlTls, { cert: 'C', key: 'K' });
  assert.deepEqual(mustFail({ cwd: folder, env: { ...tls, CAUSEWAY_CONTROL_TLS_KEY: undefined } }), [
    'control-tls-key (default): control-tls-cert and control-tls-key must be set together',
  ]);
  assert.deepEqual(mustFail({ cwd: folder, env: { ...tls, CAUSEWAY_CONTROL_TLS_KEY: 'no.pem' } }), [
    'control-tls-key (CAUSEWAY_CONTROL_TLS_KEY): no.pem cannot be read: no such file or folder',
  ]);
});

test('an edge without control on its machine must have a name and the address of a feed', () => {
  const [socket, ...others] = mustFail({ flags: { roles: 'edge' } });
  assert.match(socket ?? '', /^feed-socket \(default\): an edge without control .* "causeway edge enrol"/);
  assert.deepEqual(others, [], 'an edge that enrols needs no name');
  const [id] = mustFail({ flags: { roles: 'edge', 'feed-socket': '/run/feed.sock' } });
  assert.match(id ?? '', /^edge-id \(default\): .* a unique name, not local$/);
  const flags = { roles: 'edge', 'feed-socket': '/run/feed.sock', 'edge-id': 'second' };
  assert.deepEqual(mustLoad({ flags }).config.roles, ['edge']);
});

test('the path of the feed socket fits a socket address', () => {
  const [problem] = mustFail({ cwd: `/${'x'.repeat(90)}` });
  assert.match(problem ?? '', /^feed-socket \(default\): expected at most 100 bytes/);
});

test('an empty environment variable is like an absent one', () => {
  assert.equal(mustLoad({ env: { DATABASE_URL: '', CAUSEWAY_EDGE_ID: '' } }).config.edgeId, 'local');
});

test('secrets are shown as stars', () => {
  const { sources } = mustLoad({ env: { DATABASE_URL: 'postgres://me:hush@db/causeway', CAUSEWAY_TOKEN: 'hush' } });
  assert.doesNotMatch(JSON.stringify(sources), /hush/);
  assert.ok(sources.some(({ name, value }) => name === 'database-url' && value === '***'));
});

test('a settings file that is named must exist; causeway.toml may be missing', (t) => {
  const folder = temporaryFolder(t);
  assert.equal(readSettingsFile(undefined, folder), undefined);
  assert.deepEqual(readSettingsFile('other.toml', folder), {
    setting: 'config',
    source: join(folder, 'other.toml'),
    problem: 'cannot be read: no such file or folder',
  });
});

test('a file that is not TOML is one problem', () => {
  const problems = mustFail({ file: { path: 'causeway.toml', text: 'a = = b' } });
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /^config \(causeway.toml, line 1, column \d+\): /);
});

test('docs/operations.md has one row for each setting, as the program has it', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const rows = text
    .split('<!-- settings:')[1]
    ?.split('\n')
    .filter((line) => line.startsWith('| `'));
  assert.deepEqual(
    rows,
    Object.entries<Setting<unknown>>(SETTINGS).map(([key, setting]) => documentSetting(key, setting)),
  );
});

function documentSetting(key: string, setting: Setting<unknown>): string {
  const fallback = setting.default === undefined || setting.default === '' ? 'none' : `\`${setting.default}\``;
  const takes = setting.reader.description + (setting.unit === undefined ? '' : ` (${setting.unit})`);
  return `| \`${settingName(key)}\` | \`${settingVariable(key, setting)}\` | ${fallback} | ${takes} | ${setting.description}${setting.secret ? ' (secret: no flag)' : ''} |`;
}

function mustLoad(input: Partial<ConfigInput>) {
  const loaded = loadConfig({ flags: {}, env: {}, cwd: '/srv', ...input });
  if (loaded.kind === 'problems') assert.fail(JSON.stringify(loaded.problems));
  return loaded;
}

function mustFail(input: Partial<ConfigInput>): string[] {
  const loaded = loadConfig({ flags: {}, env: {}, cwd: '/srv', ...input });
  if (loaded.kind === 'config') assert.fail(`taken: ${JSON.stringify(input)}`);
  return loaded.problems.map(({ setting, source, problem }) => `${setting} (${source}): ${problem}`);
}
