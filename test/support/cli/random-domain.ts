/**
 * Random files of domains. Values of plain settings are found by asking the contract which of a pool it takes, so a new one is
 * tried without a change here.
 */
import fc from 'fast-check';
import { type DomainFile, formatDomainFile } from '#cli/domains/domain-file.ts';
import { SETTING_TOPICS, type SettingTopic, TOPIC_FIELDS } from '#contract/changes/setting-topics.ts';
import { POLICY_KINDS } from '#contract/domains/policy-operations.ts';

const POOL = [
  ...['0', '1', '2', 'bypass', 'store', 'strip', '1.2', '1.3', 'http', 'https', 'protocol_follow'],
  ...['5', '60', '3600', '86400', '604800'],
];

const name = fc.stringMatching(/^[a-z]([a-z0-9]{0,6}[a-z])?$/);
const host = fc.tuple(name, name).map(([first, second]) => `${first}.${second}.example`);
const url = fc.tuple(host, fc.stringMatching(/^[a-z0-9/]{0,12}$/)).map(([at, path]) => `https://${at}/${path}`);
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((one) => !one.includes('\0') && one.isWellFormed());
const word = fc.stringMatching(/^[A-Za-z0-9/.;()"'\\ ]{1,20}$/).filter((one) => one.trim() === one && one !== '');
const listOf = (entry: fc.Arbitrary<string>) => fc.uniqueArray(entry, { minLength: 1, maxLength: 5 });

const policy = fc
  .record({
    is_cache: fc.boolean(),
    priority: fc.integer({ min: 1, max: 99 }),
    kind: fc.constantFrom(
      [POLICY_KINDS.prefix.type, '/api/'],
      [POLICY_KINDS.suffix.type, 'jpg,png'],
      [POLICY_KINDS.regex.type, '^/a[0-9]+"\\.css$'],
    ),
    policy_scheme: fc.constantFrom('http', 'https'),
    time_d: fc.nat(400),
    time_s: fc.nat(4000),
  })
  .map(({ kind: [policy_type, content], is_cache, ...rest }) => ({
    ...rest,
    is_cache: is_cache ? '1' : '0',
    policy_type,
    content,
  }));

const path = { path_type: fc.constant('prefix'), path: fc.constantFrom('/login/', '/vod/') };
const limit = fc.record({
  ...path,
  requests: fc.integer({ min: 1, max: 90 }),
  seconds: fc.constantFrom(1, 60),
  burst: fc.constant(3),
});
const redirect = fc.record({
  ...path,
  target: url,
  status: fc.constantFrom('301', '307'),
  keep_query: fc.constantFrom('0', '1'),
});
const header = fc.record({
  action: fc.constantFrom('set', 'add'),
  name: fc.constantFrom('X-One', 'X-Two'),
  value: word,
});

/** Settings whose values the pool has not. */
const OWN: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  data: listOf(
    fc.oneof(
      host,
      fc.ipV4(),
      host.map((at) => `${at}:8080`),
      fc.ipV6().map((at) => `[${at}]:81`),
    ),
  ),
  backup: listOf(fc.oneof(host, fc.ipV4())),
  sourcehost: fc.oneof(fc.constant(''), host),
  monitor_url: fc.oneof(fc.constant(''), url),
  forbid_redirect_url: url,
  html_403: text,
  limits: fc.array(limit, { minLength: 1, maxLength: 3 }),
  redirects: fc.array(redirect, { minLength: 1, maxLength: 3 }),
  headers: fc.array(header, { minLength: 1, maxLength: 3 }),
  paths: fc.array(fc.record(path), { maxLength: 2 }),
  policy: fc.array(policy, { minLength: 1, maxLength: 4 }),
  referer_str: listOf(
    fc.oneof(
      host,
      host.map((at) => `*.${at}`),
    ),
  ).map((entries) => entries.join(',')),
  ua_str: listOf(word).map((entries) => entries.join(',')),
  ip_str: listOf(
    fc.oneof(
      fc.ipV4(),
      fc.ipV4().map((at) => `${at.replace(/\.\d+\.\d+$/, '.0.0')}/16`),
    ),
  ).map((entries) => entries.join(',')),
};

/** Settings without which others of their topic are refused. */
const NEEDED: Readonly<Partial<Record<SettingTopic, readonly string[]>>> = {
  origin: ['data'],
  advanced: ['forbid_redirect_url', 'html_403'],
  policies: ['policy'],
  rate_limits: ['limits'],
  redirects: ['redirects'],
  headers: ['headers'],
  referer: ['referer_str', 'referer_blank'],
  ua: ['ua_str'],
  ip: ['ip_str'],
};

/** Settings that need something beside the domain. */
const LEFT_OUT = ['ssl_control', 'ssl_key', 'ssl_key_second', 'sign', 'deny', 'allow'];

function valuesOf(topic: SettingTopic, setting: string): fc.Arbitrary<unknown> | undefined {
  if (LEFT_OUT.includes(setting)) return undefined;
  if (OWN[setting] !== undefined) return OWN[setting];
  const field: { readonly schema: { safeParse(value: unknown): { success: boolean } } } | undefined = Object(
    TOPIC_FIELDS[topic],
  )[setting];
  const accepted = POOL.filter((value) => field?.schema.safeParse(value).success);
  return accepted.length === 0 ? undefined : fc.constantFrom(...accepted);
}

function settingsOf(topic: SettingTopic): fc.Arbitrary<Record<string, unknown>> {
  const known = Object.keys(TOPIC_FIELDS[topic]).flatMap((setting) => {
    const values = valuesOf(topic, setting);
    return values === undefined ? [] : [[setting, values] as const];
  });
  return fc.record(Object.fromEntries(known), { requiredKeys: [...(NEEDED[topic] ?? [])] });
}

/** A file of a domain of this name, of any type but live if it has no recording. */
export function randomDomain(domain: string): fc.Arbitrary<DomainFile> {
  const topics = Object.fromEntries(SETTING_TOPICS.map((topic) => [topic, settingsOf(topic)]));
  return fc
    .record({
      domain: fc.constant(domain),
      type: fc.constantFrom('static', 'download', 'video', 'live', 'dynamic'),
      icp_no: fc.constant(''),
      remark: fc.oneof(fc.constant(''), text),
      settings: fc.record(topics, { requiredKeys: ['origin'] }),
    })
    .map(({ settings: { recording, ...settings }, ...rest }) => ({
      ...rest,
      settings: { ...settings, ...(rest.type === 'live' && recording !== undefined && { recording }) },
    }));
}

export function randomFile(domain: string, seed: number): string {
  const [one] = fc.sample(randomDomain(domain), { numRuns: 1, seed });
  if (one === undefined) throw new Error('no sample');
  return formatDomainFile(one);
}
