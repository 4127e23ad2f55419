import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TOPIC_TEXTS } from '#contract/changes/setting-texts.ts';
import { TOPIC_FIELDS } from '#contract/changes/setting-topics.ts';
import { describeValue, emptyObject, isSameValue } from './setting-value.ts';

const WORDS = { on: 'on', off: 'off', nothing: 'none', seconds: 's', aside: (text: string) => ` (${text})` };
const { page_compress, forbid_http_code } = TOPIC_FIELDS.advanced;
const { policy } = TOPIC_FIELDS.policies;

describe('values of settings', () => {
  test('a value is the same however the service writes it', () => {
    assert.equal(isSameValue(page_compress, 0, '0'), true);
    assert.equal(isSameValue(TOPIC_FIELDS.ua.ua_str, 'curl,*bot*', ['curl', '*bot*']), true);
    assert.equal(isSameValue(TOPIC_FIELDS.origin.data, ['a', 'b'], 'a\nb'), true);
    assert.equal(isSameValue(TOPIC_FIELDS.origin.data, ['a', 'b'], ['b', 'a']), false);
    assert.equal(isSameValue(policy, [{ is_cache: '1', time_d: 3 }], [{ is_cache: 1, time_d: '3' }]), true);
    assert.equal(isSameValue(policy, [{ is_cache: '1', time_d: 3 }], [{ is_cache: '1', time_d: 4 }]), false);
  });

  test('a value is described in words', () => {
    const { settings } = TOPIC_TEXTS.advanced;
    assert.equal(describeValue(page_compress, settings.page_compress, '1', 'en', WORDS), 'on');
    const { expires } = TOPIC_FIELDS.advanced;
    assert.equal(describeValue(expires, settings.expires, '86400', 'en', WORDS), '1 day (86400 s)');
    assert.equal(describeValue(expires, settings.expires, 61, 'en', WORDS), '61 s');
    assert.equal(describeValue(forbid_http_code, settings.forbid_http_code, '', 'zh-CN', WORDS), '默认的 403');
    const given = [{ is_cache: '1', policy_type: 'suffix', content: 'jpg,png', time_y: 0, time_d: 30 }];
    assert.equal(
      describeValue(policy, TOPIC_TEXTS.policies.settings.policy, given, 'en', WORDS),
      'Cache: on · Match by: Suffixes · Path: jpg,png · Days: 30',
    );
    assert.equal(describeValue(policy, TOPIC_TEXTS.policies.settings.policy, [], 'en', WORDS), 'none');
  });

  test('a new rule has a value for each of its members', () => {
    assert.deepEqual(emptyObject(TOPIC_FIELDS.headers.headers.members), { action: 'set', name: '', value: '' });
  });
});
