/**
 * The topics of a domain's settings. Each is what one operation changes, with the fields of that operation; another one
 * that takes `if_revision` does not compile in `api/settings/stale-revision.ts` until it has a topic. docs/decisions/0625
 */
import * as z from 'zod';
import { ACCESS_OPERATIONS } from '../domains/access-operations.ts';
import { ADDRESS_LIST_OPERATIONS } from '../domains/address-list-operations.ts';
import { ADVANCED_OPERATIONS } from '../domains/advanced-operations.ts';
import { CERTIFICATE_OPERATIONS } from '../domains/certificate-operations.ts';
import { CONFIG_OPERATIONS } from '../domains/config-operations.ts';
import { SOURCE_TYPES } from '../domains/domain-data.ts';
import { DOMAIN_OPERATIONS } from '../domains/domain-operations.ts';
import { POLICY_OPERATIONS } from '../domains/policy-operations.ts';
import { RULE_OPERATIONS } from '../domains/rule-operations.ts';
import { SIGNING_OPERATIONS } from '../domains/signing-operations.ts';
import { LIVE_RECORDING_OPERATIONS } from '../live/live-recording-operations.ts';
import { type Field, type Fields, flag, optional, UNKNOWN_NAME } from '../schema/fields.ts';

const { ssl_control: _control, ...ADVANCED } = withoutRevision(ADVANCED_OPERATIONS['config.getAdvanced'].data.shape);
const { warnings: _warnings, ...SSL } = withoutRevision(CERTIFICATE_OPERATIONS['config.getSsl'].data.shape);
const {
  has_primary_key: _primary,
  has_secondary_key: _secondary,
  ...SIGNING
} = withoutRevision(SIGNING_OPERATIONS['config.getUrlSigning'].data.shape);
const CERTIFICATE_KEY = z.string().describe('certificate identifier; empty: none');

/** The operation that changes each topic. */
export const TOPIC_OPERATIONS = {
  origin: 'domain.updateOrigin',
  advanced: 'config.setAdvanced',
  policies: 'config.setPolicies',
  cache: 'config.setCacheOptions',
  referer: 'config.setReferer',
  ua: 'config.setUserAgent',
  ip: 'config.setIp',
  address_lists: 'config.setAddressLists',
  rate_limits: 'config.setRateLimits',
  redirects: 'config.setRedirects',
  headers: 'config.setResponseHeaders',
  signing: 'config.setUrlSigning',
  ssl: 'config.setSsl',
  recording: 'live.setRecording',
} as const;

export type SettingTopic = keyof typeof TOPIC_OPERATIONS;

/** The topics in the order in which they are shown, and changed. */
export const SETTING_TOPICS = Object.keys(TOPIC_OPERATIONS) as readonly SettingTopic[];

/** Fields of requests. */
export const TOPIC_FIELDS = {
  origin: settingsOf(DOMAIN_OPERATIONS['domain.updateOrigin'].request.fields),
  advanced: settingsOf(ADVANCED_OPERATIONS['config.setAdvanced'].request.fields),
  policies: settingsOf(POLICY_OPERATIONS['config.setPolicies'].request.fields),
  cache: settingsOf(CONFIG_OPERATIONS['config.setCacheOptions'].request.fields),
  referer: settingsOf(ACCESS_OPERATIONS['config.setReferer'].request.fields),
  ua: settingsOf(ACCESS_OPERATIONS['config.setUserAgent'].request.fields),
  ip: settingsOf(ACCESS_OPERATIONS['config.setIp'].request.fields),
  address_lists: settingsOf(ADDRESS_LIST_OPERATIONS['config.setAddressLists'].request.fields),
  rate_limits: settingsOf(RULE_OPERATIONS['config.setRateLimits'].request.fields),
  redirects: settingsOf(RULE_OPERATIONS['config.setRedirects'].request.fields),
  headers: settingsOf(RULE_OPERATIONS['config.setResponseHeaders'].request.fields),
  signing: withoutKeys(settingsOf(SIGNING_OPERATIONS['config.setUrlSigning'].request.fields)),
  ssl: settingsOf(CERTIFICATE_OPERATIONS['config.setSsl'].request.fields),
  recording: settingsOf(LIVE_RECORDING_OPERATIONS['live.setRecording'].request.fields),
} as const satisfies Readonly<Record<SettingTopic, Fields>>;

/** Schemas of answers, which can be sent back as they are. */
export const TOPIC_DATA = {
  origin: z.object({
    data: z.array(z.string()).describe('primary origin addresses, as they were written'),
    backup: z.array(z.string()).describe('backup origin addresses'),
    source_type: z.enum(SOURCE_TYPES.codes).describe('origin protocol'),
    sourcehost: z.string().describe('origin Host header; empty: the domain itself'),
    monitor_url: z.string().describe('probe URL; empty: none'),
  }),
  advanced: z.object({ ...ADVANCED, html_403: z.string().describe('page content for 403') }),
  policies: z.object(withoutRevision(POLICY_OPERATIONS['config.getPolicies'].data.shape)),
  cache: z.object(withoutRevision(CONFIG_OPERATIONS['config.getCacheOptions'].data.shape)),
  referer: z.object(withoutRevision(ACCESS_OPERATIONS['config.getReferer'].data.shape)),
  ua: z.object(withoutRevision(ACCESS_OPERATIONS['config.getUserAgent'].data.shape)),
  ip: z.object(withoutRevision(ACCESS_OPERATIONS['config.getIp'].data.shape)),
  address_lists: z.object(withoutRevision(ADDRESS_LIST_OPERATIONS['config.getAddressLists'].data.shape)),
  rate_limits: z.object(withoutRevision(RULE_OPERATIONS['config.getRateLimits'].data.shape)),
  redirects: z.object(withoutRevision(RULE_OPERATIONS['config.getRedirects'].data.shape)),
  headers: z.object(withoutRevision(RULE_OPERATIONS['config.getResponseHeaders'].data.shape)),
  signing: z.object(SIGNING),
  ssl: z.object({ ...SSL, ssl_key: CERTIFICATE_KEY, ssl_key_second: CERTIFICATE_KEY }),
  recording: z
    .object(withoutRevision(LIVE_RECORDING_OPERATIONS['live.getRecording'].data.shape))
    .optional()
    .describe('only of a live domain'),
} as const satisfies Readonly<Record<SettingTopic, z.ZodType>>;

export type TopicData = z.output<z.ZodObject<typeof TOPIC_DATA>>;

/** Some settings of some topics, as requests have them. */
export type SettingsToChange = {
  readonly [T in SettingTopic]?: {
    readonly [F in keyof (typeof TOPIC_FIELDS)[T]]?: InputOf<(typeof TOPIC_FIELDS)[T][F]>;
  };
};

/** Field of requests: any settings of any topics. Other names are refused, as a misspelt one would change nothing. */
export const GIVEN_SETTINGS = {
  schema: z.custom<SettingsToChange>(isObject).superRefine((given, context) => {
    for (const path of unknownNames(given)) context.addIssue({ code: 'custom', path, params: UNKNOWN_NAME });
    for (const [topic, settings] of Object.entries(given))
      if (!isObject(settings)) context.addIssue({ code: 'custom', path: [topic] });
  }),
  kind: 'settings',
  expects: {
    'zh-CN': `对象，其成员为 ${SETTING_TOPICS.join('、')}，每个成员为含有所要修改的配置的对象，字段与相应的设置操作相同`,
    en: `an object with members of ${SETTING_TOPICS.join(', ')}, each an object with the settings to change, under the names that the operations of the topic have`,
  },
  each: {
    'zh-CN': '/domain/getSettings 所给出的主题名或配置名，主题的值为对象',
    en: 'the name of a topic, or of a setting in it, as /domain/getSettings answers them, and an object for a topic',
  },
  json: {
    type: 'object',
    properties: Object.fromEntries(SETTING_TOPICS.map((topic) => [topic, { type: 'object' }])),
    additionalProperties: false,
  },
} satisfies Field;

/** Field of requests. */
export const DRY_RUN = {
  ...optional(flag),
  expects: { 'zh-CN': '0 或 1（只检查，不修改）', en: '0, or 1: check it, and change nothing' },
};

type InputOf<F> = F extends { readonly schema: infer S extends z.ZodType } ? z.input<S> : never;

type Unset = 'domain_id' | 'domain' | 'if_revision';

function settingsOf<F extends Fields>(fields: F): Omit<F, Unset> {
  const unset: readonly string[] = ['domain_id', 'domain', 'if_revision'] satisfies readonly Unset[];
  const kept = Object.entries(fields).filter(([name]) => !unset.includes(name));
  return Object.fromEntries(kept) as Omit<F, Unset>; // fromEntries forgets the names
}

/** Secrets are no settings. */
function withoutKeys<F extends Fields>({ primary_key: _key, secondary_key: _other, ...fields }: F & Secrets) {
  return fields;
}

interface Secrets {
  readonly primary_key: Field;
  readonly secondary_key: Field;
}

function withoutRevision<S extends { readonly revision: unknown }>({ revision: _revision, ...shape }: S) {
  return shape;
}

/** Paths of names that are no topic, or no setting of their topic. */
function unknownNames(given: SettingsToChange): string[][] {
  return Object.entries(given).flatMap(([topic, settings]) => {
    const fields = SETTING_TOPICS.find((known) => known === topic);
    if (fields === undefined) return [[topic]];
    const names = Object.keys(Object(settings)).filter((name) => !Object.hasOwn(TOPIC_FIELDS[fields], name));
    return names.map((name) => [topic, name]);
  });
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
