/** A domain's settings by topic, as answers have them: what can be sent back as it is. */

import { SETTING_TOPICS, type SettingTopic, type TopicData } from '#contract/changes/setting-topics.ts';
import { SOURCE_TYPES } from '#contract/domains/domain-data.ts';
import { WIRE_CACHE_SETTINGS } from '#contract/settings/settings.ts';
import type { Domain } from '#model/domain.ts';
import { WRITE_ACCESS } from './wire-access.ts';
import { WRITE_ADDRESS_LISTS } from './wire-address-lists.ts';
import { writeAdvanced } from './wire-advanced.ts';
import { writeSsl } from './wire-certificate.ts';
import { writePolicies } from './wire-policy.ts';
import { WRITE_RECORDINGS } from './wire-recordings.ts';
import { WRITE_RULES, writeSigning } from './wire-rules.ts';

export const WRITE_TOPICS: { readonly [T in SettingTopic]: (domain: Domain) => TopicData[T] } = {
  origin: ({ settings }) => ({
    data: [...settings.origins],
    backup: [...settings.backups],
    source_type: SOURCE_TYPES.codeOf[settings.originProtocol],
    sourcehost: settings.originHost,
    monitor_url: settings.monitorUrl,
  }),
  advanced: ({ settings }) => {
    const { ssl_control: _control, ...advanced } = writeAdvanced(settings);
    return { ...advanced, html_403: settings.html403 };
  },
  policies: ({ settings }) => writePolicies(settings.caching),
  cache: ({ settings }) => WIRE_CACHE_SETTINGS.write(settings.cache),
  referer: (domain) => withoutRevision(WRITE_ACCESS['config.getReferer'](domain)),
  ua: (domain) => withoutRevision(WRITE_ACCESS['config.getUserAgent'](domain)),
  ip: (domain) => withoutRevision(WRITE_ACCESS['config.getIp'](domain)),
  address_lists: (domain) => withoutRevision(WRITE_ADDRESS_LISTS['config.getAddressLists'](domain)),
  rate_limits: (domain) => withoutRevision(WRITE_RULES['config.getRateLimits'](domain)),
  redirects: (domain) => withoutRevision(WRITE_RULES['config.getRedirects'](domain)),
  headers: (domain) => withoutRevision(WRITE_RULES['config.getResponseHeaders'](domain)),
  signing: writeSigning,
  ssl: ({ settings }) => ({
    ...writeSsl(settings),
    ssl_key: settings.sslKey,
    ssl_key_second: settings.secondSslKey,
  }),
  recording: (domain) =>
    domain.type === 'live' ? withoutRevision(WRITE_RECORDINGS['live.getRecording'](domain)) : undefined,
};

export function writeTopics(domain: Domain): TopicData {
  const written = SETTING_TOPICS.map((topic) => [topic, WRITE_TOPICS[topic](domain)]);
  return Object.fromEntries(written.filter(([, settings]) => settings !== undefined)) as TopicData; // one for each name
}

/** A setting whose value differs. */
export interface SettingChange {
  readonly topic: SettingTopic;
  readonly name: string;
  /** Absent: there is no value. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Compares settings as answers have them. */
export function compareTopics(before: TopicData, after: TopicData): readonly SettingChange[] {
  return SETTING_TOPICS.flatMap((topic) => {
    const [was, is]: [Members, Members] = [before[topic] ?? {}, after[topic] ?? {}];
    return [...new Set([...Object.keys(was), ...Object.keys(is)])]
      .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
      .map((name) => ({ topic, name, before: was[name], after: is[name] }));
  });
}

type Members = Readonly<Record<string, unknown>>;

function withoutRevision<R extends { readonly revision: string }>({ revision: _revision, ...rule }: R) {
  return rule;
}
