import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EVENT_KIND_NAMES } from '../../model/event.ts';
import { describeEvent, EVENT_TEXTS } from './event-texts.ts';

const target = { kind: 'domain', id: '7', name: 'www.example.com' } as const;

describe('texts of events', () => {
  test('the texts of a kind have the same parameters in both languages, and end without a full stop', () => {
    const names = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted();
    for (const kind of EVENT_KIND_NAMES) {
      const { 'zh-CN': chinese, en } = EVENT_TEXTS[kind];
      assert.deepEqual(names(chinese), names(en), kind);
      assert.ok(names(en).includes('{name}') || names(en).includes('{id}'), kind);
      assert.doesNotMatch(`${chinese} ${en}`, /[.。]( |$)/, kind);
    }
  });

  test('words in details are translated, and a detail that is missing is left out', () => {
    const data = { origin: 'o:80', state: 'forbidden', edges: 1 };
    assert.equal(
      describeEvent({ kind: 'origin.down', target, data }, 'en'),
      'the origin o:80 of www.example.com is at an address that edges do not connect to (edges: 1, such as )',
    );
    assert.match(describeEvent({ kind: 'origin.down', target, data }, 'zh-CN'), /源站 o:80 位于节点不连接的地址/);
    const quota = { quota: 'prefetchUrls', used: 8, limit: 10 };
    assert.match(describeEvent({ kind: 'quota.near', target, data: quota }, 'zh-CN'), /每日预热接近限额：8 \/ 10/);
  });

  test('what others wrote cannot bring in other details', () => {
    const data = { detail: '{actor} {name}' };
    assert.match(describeEvent({ kind: 'edge.drain', target, data }, 'en'), /\(\{actor\} \{name\}\)$/);
  });
});
