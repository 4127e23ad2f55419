/** What callers read who sent something wrong: the field, what was expected and what was found, in both languages. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { translate } from '#contract/errors/reasons.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTES, type RouteName } from '#contract/routes.ts';
import type { Field } from '#contract/schema/fields.ts';
import { COMMON } from '#contract/schema/operation.ts';
import { add, startWithCustomers } from '../support/api/customers.ts';
import { newSqlite } from '../support/db/databases.ts';
import { ADVANCED_OFF } from '../support/edge/advanced.ts';

const ADVANCED = { ...ADVANCED_OFF, keep_url_params: 1, forbid_http_code: '403' };
const POLICY = { is_cache: 1, policy_type: 'suffix', policy_scheme: 'http', content: 'jpg' };

/** Operation, fields, and how its answer begins and ends, in English and in Chinese. */
const ROWS: readonly [RouteName, Record<string, unknown>, RegExp, RegExp][] = [
  [
    'config.setPolicies',
    { use_header_setting: 0, policy: POLICY },
    /^field policy is invalid: expected an array .*; found an object$/,
    /^字段 policy 无效，应为：缓存策略的数组.*；实际为：一个对象$/,
  ],
  [
    'config.setPolicies',
    { use_header_setting: 0, policy: ['jpg'] },
    /^field policy\[0\] is invalid: expected a JSON object, one cache policy; found "jpg"$/,
    /^字段 policy\[0\] 无效，应为：JSON 对象（一条缓存策略）；实际为："jpg"$/,
  ],
  [
    'config.setPolicies',
    { use_header_setting: 0, policy: [POLICY, { ...POLICY, time_d: '30d' }] },
    /^field policy\[1\]\[time_d\] is invalid: expected an integer from 0 to 36500; found "30d"$/,
    /^字段 policy\[1\]\[time_d\] 无效，应为：0 到 36500 的整数；实际为："30d"$/,
  ],
  [
    'config.setPolicies',
    { use_header_setting: 0, policy: [{ ...POLICY, policy_type: 'urlregex', content: 'a(?=b)' }] },
    /, but "a\(\?=b\)" uses look-around, which does not run in linear time$/,
    /，应为：至多 512 个字符、可在线性时间内执行的正则表达式；而 "a\(\?=b\)" 使用了环视，不能在线性时间内执行$/,
  ],
  [
    'config.setPolicies',
    { use_header_setting: 0, policy: [] },
    /at least one when use_header_setting is 0; found an empty list$/,
    /use_header_setting 为 0 时至少一条；实际为：空列表$/,
  ],
  [
    'config.setAdvanced',
    { ...ADVANCED, html_403: '长'.repeat(30_000) },
    /^field html_403 is .* at most 65536 bytes .*; found a text of 30000 characters \(90000 bytes in UTF-8\)$/,
    /^字段 html_403 .*至多 65536 字节.*；实际为：30000 个字符的文本（UTF-8 编码后 90000 字节）$/,
  ],
  [
    'config.setAdvanced',
    { ...ADVANCED, html_403: '' },
    /^field html_403 is invalid: .* not empty when forbid_http_code is 403.*; found an empty text$/,
    /^字段 html_403 无效，.*forbid_http_code 为 403 时不得为空.*；实际为：空文本$/,
  ],
  [
    'config.setAdvanced',
    { ...ADVANCED, page_compress: true },
    /^field page_compress is invalid: expected 0 \(off\) or 1 \(on\); found true$/,
    /^字段 page_compress 无效，应为：0（关闭）或 1（开启）；实际为：true$/,
  ],
  [
    'config.setReferer',
    { referer_type: 1, referer_blank: 1, referer_str: 'a.example, b c' },
    /^field referer_str\[1\] .* a domain such as example\.com .*, but "b c" contains characters that host names cannot have$/,
    /^字段 referer_str\[1\] 无效，应为：域名（如.*；而 "b c" 含有域名中不能有的字符$/,
  ],
  [
    'config.setUserAgent',
    { ua_control: 1, ua_str: `curl, ,${'x'.repeat(257)}` },
    /^field ua_str\[1\] is invalid: expected a User-Agent .*256 characters.*; found a text of 257 characters/,
    /^字段 ua_str\[1\] 无效，.*256 个字符.*；实际为：257 个字符的文本/,
  ],
  [
    'config.setIp',
    { ip_type: 1, ip_str: Array.from({ length: 51 }, (_, n) => `192.0.2.${n}`) },
    /^field ip_str is invalid: expected 1 to 50 .*; found a list of 51$/,
    /^字段 ip_str 无效，应为：1 到 50 .*；实际为：有 51 项的列表$/,
  ],
  [
    'domain.updateOrigin',
    { data: ['a.example', {}] },
    /^field data\[1\] is invalid: expected host, host:port, .*; found an object$/,
    /^字段 data\[1\] 无效，应为：域名、域名:端口、.*；实际为：一个对象$/,
  ],
  [
    'domain.add',
    { domain: 'com', cdn_type: 1, data: 'a.example' },
    /, but "com" needs at least two parts, as in example\.com$/,
    /；而 "com" 至少要有两段，如 example\.com$/,
  ],
  [
    'cache.purge',
    { domain_id: undefined, urls: 'http://1.2.3.4/a' },
    /has a host that ends in a number: it would be read as an IP address$/,
    /；而 "http:\/\/1\.2\.3\.4\/a" 的域名以数字结尾：会被当作 IP 地址$/,
  ],
  [
    'domain.setStatus',
    { domain_status: 2 },
    /^domain 1 is disabled \(6\); only a domain that is closed \(0\) can be opened$/,
    /^域名 1 的状态为已禁用（6）；只有状态为已关闭（0）的域名才能启用$/,
  ],
];

test('a refusal names the field, what was expected and what was found', async (t) => {
  const { api, me, mine, operate } = await startWithCustomers(t, newSqlite);
  const id = await add(mine, 'a.example');
  for (const [name, request, en, zh] of ROWS) {
    if (name === 'domain.setStatus')
      await operate('operator.setDomainStatus', { account_id: me.accountId, domain_id: id, action: 'disable' });
    const body = { access_token: me.accessToken, domain_id: id, ...request };
    for (const [language, expected] of [
      ['en', en],
      ['zh-CN', zh],
    ] as const) {
      const answer = await api.post(ROUTES[name].path, body, { 'accept-language': language });
      assert.match(String(answer.body['info']), expected, `${name} ${JSON.stringify(request).slice(0, 200)}`);
    }
  }
});

test('a refusal does not show the value of access_token', async (t) => {
  const { api } = await startWithCustomers(t, newSqlite);
  const secret = 'hush'.repeat(200);
  const { body } = await api.post('/domain/listDomains', { access_token: secret });
  assert.doesNotMatch(JSON.stringify(body), /hush/);
});

test('fields that hold a secret are marked, and their values are not shown', () => {
  const fields = [COMMON, ...Object.values(OPERATIONS).map(({ request }) => request)].flatMap(
    (request): [string, Field][] => Object.entries(request.fields),
  );
  const secrets = fields.filter(([name]) => /token$|private|password|secret/.test(name));
  assert.ok(secrets.length > 0);
  for (const [name, { isSecret }] of secrets) assert.equal(isSecret, true, `${name} needs isSecret`);
});

test('every reason for a refusal has a Chinese text (src/contract/errors/reasons.ts)', () => {
  const reasons = globSync(['src/model/*.ts', 'src/sites/*.ts', 'src/lib/linear-regexp.ts', 'src/api/wire/*.ts'], {
    cwd: join(import.meta.dirname, '../..'),
  })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap(reasonsIn);
  assert.ok(reasons.length > 30, `only ${reasons.length} are found`);
  const untranslated = reasons.filter((reason) => !/\p{Script=Han}/u.test(translate(reason) ?? ''));
  assert.deepEqual(untranslated, []);
});

/** Texts that go on with "the entry …", as the source writes them; a value in one stands as `1`. */
function reasonsIn(file: string): string[] {
  const source = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
  const pattern =
    /(?<!Buffer\.from\()(['"`])((?:is|has|holds|expired|does|needs|names|contains|ends|looks|repeats|cannot|overlaps) (?:(?!\1)[^\\\n]|\\.)+)\1/g;
  return [...source.matchAll(pattern)].map(([, , text = '']) =>
    text.replace(/\$\{[^}]*\}/g, '1').replace(/\\(.)/g, '$1'),
  );
}
