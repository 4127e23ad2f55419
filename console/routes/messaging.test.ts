import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  balancePath,
  messageCountsPath,
  messagePath,
  messagesPath,
  optOutsPath,
  readBalanceQuery,
  readMessageCountsQuery,
  readMessagesQuery,
  readOptOutsQuery,
  readRepliesQuery,
  readSendQuery,
  readServiceTab,
  repliesPath,
  sendPath,
  servicePath,
} from './messaging.ts';

const searchOf = (path: string) => new URL(path, 'http://localhost').search;

test('a filter of messages survives its address', () => {
  const query = { number: '+86 138', status: 'trouble', app: 'sms_a&b', period: '7d' } as const;
  assert.deepEqual(readMessagesQuery(searchOf(messagesPath(query))), query);
  assert.equal(messagesPath({ number: '', period: 'all' }), '/messages');
  const none = { number: '', status: '', app: '', period: 'all' };
  assert.deepEqual(readMessagesQuery('?status=lost&period=3y'), none);
});

test('other filters survive their addresses, and a list has its plain address without one', () => {
  const number = '+8613800138000';
  assert.deepEqual(readSendQuery(searchOf(sendPath({ number }))), { number });
  assert.deepEqual(readOptOutsQuery(searchOf(optOutsPath({ number }))), { number });
  assert.deepEqual(readRepliesQuery(searchOf(repliesPath({ number, app: 'a' }))), { number, app: 'a' });
  const counts = { period: '30d', app: 'a' } as const;
  assert.deepEqual(readMessageCountsQuery(searchOf(messageCountsPath(counts))), counts);
  assert.deepEqual(readBalanceQuery(searchOf(balancePath({ before: '17' }))), { before: '17' });
  assert.deepEqual(readBalanceQuery('?before=-1'), { before: '' });
  assert.deepEqual(
    [sendPath(), optOutsPath(), repliesPath(), messageCountsPath({ period: '7d' })],
    ['/messages/send', '/replies/opt-outs', '/replies', '/messages/statistics'],
  );
  assert.deepEqual([servicePath('a'), servicePath('a', 'webhook')], ['/services/a', '/services/a/webhook']);
  assert.equal(readServiceTab('nothing'), 'settings');
});

test('a message has its number in its address', () => {
  assert.equal(messagePath('176', '+8613800138000'), '/messages/176/+8613800138000');
});
