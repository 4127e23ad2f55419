import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagePath, messagesPath, readMessagesQuery } from './messaging.ts';

const searchOf = (path: string) => new URL(path, 'http://localhost').search;

test('a filter of messages survives its address', () => {
  const query = { number: '+86 138', status: 'trouble', app: 'sms_a&b', period: '7d' } as const;
  assert.deepEqual(readMessagesQuery(searchOf(messagesPath(query))), query);
  assert.equal(messagesPath({ number: '', period: 'all' }), '/messages');
  const none = { number: '', status: '', app: '', period: 'all' };
  assert.deepEqual(readMessagesQuery('?status=lost&period=3y'), none);
});

test('a message has its number in its address', () => {
  assert.equal(messagePath('176', '+8613800138000'), '/messages/176/+8613800138000');
});
