/** Settings by topic, for samples: those of the readings of each topic. */
import { ACCESS_OPERATIONS } from '../domains/access-operations.ts';
import { ADVANCED_OPERATIONS } from '../domains/advanced-operations.ts';
import { CERTIFICATE_OPERATIONS } from '../domains/certificate-operations.ts';
import { CONFIG_OPERATIONS } from '../domains/config-operations.ts';
import { POLICY_OPERATIONS } from '../domains/policy-operations.ts';
import { TOPIC_DATA, type TopicData } from './setting-topics.ts';

export const SAMPLE_SETTINGS: TopicData = {
  origin: {
    data: ['203.0.113.11', '[2001:db8::11]:8443'],
    backup: ['backup.example.net'],
    source_type: 'https',
    sourcehost: '',
    monitor_url: '',
  },
  advanced: TOPIC_DATA.advanced.parse({ ...ADVANCED_OPERATIONS['config.getAdvanced'].sample.data, html_403: '' }),
  policies: TOPIC_DATA.policies.parse(POLICY_OPERATIONS['config.getPolicies'].sample.data),
  cache: TOPIC_DATA.cache.parse(CONFIG_OPERATIONS['config.getCacheOptions'].sample.data),
  referer: TOPIC_DATA.referer.parse(ACCESS_OPERATIONS['config.getReferer'].sample.data),
  ua: TOPIC_DATA.ua.parse(ACCESS_OPERATIONS['config.getUserAgent'].sample.data),
  ip: TOPIC_DATA.ip.parse(ACCESS_OPERATIONS['config.getIp'].sample.data),
  address_lists: { deny: [], allow: [] },
  rate_limits: { limits: [] },
  redirects: { redirects: [] },
  headers: { headers: [] },
  signing: { sign: '0', valid_seconds: 1800, paths: [] },
  ssl: TOPIC_DATA.ssl.parse({ ...CERTIFICATE_OPERATIONS['config.getSsl'].sample.data, ssl_key_second: '' }),
};

/** Settings of a domain on which nothing was set. */
export const SAMPLE_DEFAULTS: TopicData = {
  ...SAMPLE_SETTINGS,
  origin: { data: [], backup: [], source_type: 'http', sourcehost: '', monitor_url: '' },
  policies: { use_header_setting: '1', policy: [] },
};
