/** Changes of any of a domain's settings in one revision, and its earlier revisions. docs/decisions/0624, 0625 */
import * as z from 'zod';
import { CERTIFICATE_WARNINGS } from '../domains/certificate-warnings.ts';
import { listWithNext, PAGE_FIELDS } from '../domains/list-fields.ts';
import { ORIGIN_WARNING_CODES } from '../domains/origin-warnings.ts';
import { commaList, identifier, integer, optional } from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { REVISION_DATA, SAMPLE_REVISION } from '../schema/revision-fields.ts';
import { changesSettings } from '../settings/domain-settings.ts';
import { AUDIT_ACTOR, SAMPLE_ACTOR } from './audit-operations.ts';
import { DRY_RUN, GIVEN_SETTINGS, SETTING_TOPICS, TOPIC_DATA, TOPIC_FIELDS } from './setting-topics.ts';
import { SAMPLE_DEFAULTS, SAMPLE_SETTINGS } from './setting-topics-sample.ts';

const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 64;

const revision = {
  ...integer(1, Number.MAX_SAFE_INTEGER),
  expects: { 'zh-CN': '整数，即列表中的 revision', en: 'an integer, a revision of the list' },
};

const NAMES = commaList({
  maxEntries: MAX_NAMES,
  maxLength: MAX_NAME_LENGTH,
  expects: {
    'zh-CN': `至多 ${MAX_NAMES} 个主题或配置的名称，如 cache,advanced.expires，用逗号分隔或为数组`,
    en: `at most ${MAX_NAMES} topics or settings such as cache,advanced.expires, comma-separated or an array`,
  },
  each: { 'zh-CN': '主题，或“主题.配置”', en: 'a topic, or a setting as topic.name' },
});
const names = optional({
  ...NAMES,
  schema: NAMES.schema.superRefine((given, context) => {
    for (const [index, name] of given.entries())
      if (!isTopicOrSetting(name)) context.addIssue({ code: 'custom', path: [index] });
  }),
});

function isTopicOrSetting(name: string): boolean {
  return SETTING_TOPICS.some(
    (topic) => topic === name || Object.keys(TOPIC_FIELDS[topic]).some((setting) => `${topic}.${setting}` === name),
  );
}

const SETTINGS = z.object(TOPIC_DATA).meta({ id: 'SettingsByTopic' });

const CHANGES = z
  .array(
    z
      .object({
        topic: z.enum(SETTING_TOPICS),
        name: z.string(),
        before: z.unknown(),
        after: z.unknown(),
      })
      .meta({ id: 'SettingChange' }),
  )
  .describe('settings that differ, with the values that /domain/getSettings shows');

export const CHANGED = {
  revision: z.string().describe('revision of the settings now; with dry_run, or if nothing differs, that from before'),
  changes: CHANGES,
  warnings: z
    .array(
      z
        .object({ code: z.enum([...ORIGIN_WARNING_CODES, ...CERTIFICATE_WARNINGS]), text: z.string() })
        .meta({ id: 'SettingWarning' }),
    )
    .describe('why edges cannot use the origins, or clients may refuse the certificates, of topics that are set'),
};

const MADE = {
  changed_at: z.int().describe('when this revision was made, Unix milliseconds'),
  changed_by: z
    .object({ ...AUDIT_ACTOR, operation: z.string(), event_id: z.string() })
    .meta({ id: 'ChangeAuthor' })
    .nullable()
    .describe('who made it, as /audit/getAuditEvent shows it; null: that is not kept'),
};

const SAMPLE_MADE = { changed_at: 1_769_832_000_123, changed_by: SAMPLE_ACTOR };
export const SAMPLE_CHANGES = [{ topic: 'advanced' as const, name: 'page_compress', before: '0', after: '1' }];

export const DOMAIN_CHANGE_OPERATIONS = {
  'domain.settings': operation({
    summary: { 'zh-CN': '查询域名的全部配置', en: 'Gets all settings of a domain' },
    request: request({ domain_id: identifier }),
    data: z.object({
      ...REVISION_DATA,
      ...MADE,
      settings: SETTINGS.describe('settings by topic; can be sent back as `set`'),
      defaults: SETTINGS.describe('the same of a domain on which nothing was set'),
    }),
    sample: {
      request: { domain_id: '1001' },
      data: { revision: SAMPLE_REVISION, ...SAMPLE_MADE, settings: SAMPLE_SETTINGS, defaults: SAMPLE_DEFAULTS },
    },
  }),
  'domain.change': {
    ...changesSettings(
      { 'zh-CN': '修改域名的若干配置', en: 'Changes any settings of a domain in one revision' },
      { set: GIVEN_SETTINGS, dry_run: DRY_RUN },
      { set: { advanced: { page_compress: 1 } }, dry_run: 1 },
    ),
    data: z.object(CHANGED),
    sample: {
      request: { domain_id: '1001', set: { advanced: { page_compress: 1 } }, if_revision: SAMPLE_REVISION },
      data: { revision: '18', changes: SAMPLE_CHANGES, warnings: [] },
    },
  },
  'domain.listRevisions': operation({
    summary: { 'zh-CN': '查询域名配置的历史版本，最新的在前', en: 'Lists revisions of a domain, newest first' },
    request: request({ domain_id: identifier, before: optional(revision), page_size: PAGE_FIELDS.page_size }),
    data: listWithNext('before', { ...REVISION_DATA, ...MADE }),
    sample: {
      request: { domain_id: '1001', page_size: 20 },
      data: { list: [{ revision: SAMPLE_REVISION, ...SAMPLE_MADE }], next: '' },
    },
  }),
  'domain.getRevision': operation({
    summary: { 'zh-CN': '查询域名某个版本的配置', en: 'Gets the settings that a domain had at a revision' },
    request: request({ domain_id: identifier, revision }),
    data: z.object({ ...REVISION_DATA, ...MADE, settings: SETTINGS }),
    sample: {
      request: { domain_id: '1001', revision: SAMPLE_REVISION },
      data: { revision: SAMPLE_REVISION, ...SAMPLE_MADE, settings: SAMPLE_SETTINGS },
    },
  }),
  'domain.compare': operation({
    summary: { 'zh-CN': '比较域名的两个版本', en: 'Compares two revisions of a domain' },
    request: request({ domain_id: identifier, from_revision: revision, to_revision: optional(revision) }),
    data: z.object({ changes: CHANGES }),
    sample: { request: { domain_id: '1001', from_revision: '17' }, data: { changes: SAMPLE_CHANGES } },
  }),
  'domain.revert': {
    ...changesSettings(
      { 'zh-CN': '恢复域名较早版本的配置', en: 'Sets settings of a domain back to those of an earlier revision' },
      { to_revision: revision, names, dry_run: DRY_RUN },
      { to_revision: SAMPLE_REVISION },
    ),
    data: z.object({
      ...CHANGED,
      left_out: z
        .array(z.object({ topic: z.enum(SETTING_TOPICS), name: z.string(), earlier: z.unknown() }))
        .describe('settings that stay, because their certificate is gone'),
    }),
    sample: {
      request: { domain_id: '1001', to_revision: '17', names: 'advanced', if_revision: '18' },
      data: { revision: '19', changes: SAMPLE_CHANGES, warnings: [], left_out: [] },
    },
  },
};
