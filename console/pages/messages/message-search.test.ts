import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessagesQuery } from '../../routes/messaging.ts';
import { csvOf, requestOf } from './message-search.ts';

const NOW = 1_769_832_059_999;

test('the filter of the address becomes a request, and a number that is not whole yet is left out', () => {
  const ask = (search: string) => requestOf(readMessagesQuery(search), NOW);
  assert.deepEqual(ask(''), { page_size: 50 });
  assert.deepEqual(ask('number=13800'), { page_size: 50 });
  assert.deepEqual(ask('number=138%200013-8000'), { mobile: '13800138000', page_size: 50 });
  assert.deepEqual(ask('number=%2B44%20(20)7946'), { mobile: '+44207946', page_size: 50 });
  assert.deepEqual(ask('status=trouble&app=sms_a&period=1d'), {
    status: ['failed', 'expired', 'rejected', 'unknown', 'uncertain'],
    app_key: 'sms_a',
    from: 1_769_832_000 - 86_400,
    page_size: 50,
  });
});

test('the file has what is shown, with numbers that no spreadsheet takes for formulas', () => {
  const row = {
    sendid: '17698320000001234567',
    app_key: 'sms_a',
    kind: 'ordinary',
    mobile: '+8613800138000',
    status: 'failed',
    parts: 2,
    price: 4,
    created_at: NOW,
  } as const;
  assert.equal(
    csvOf([row]),
    '\u{feff}created_at,sendid,app_key,kind,mobile,status,parts,price\r\n' +
      "2026-01-31T04:00:59.999Z,17698320000001234567,sms_a,ordinary,'+8613800138000,failed,2,4\r\n",
  );
});
