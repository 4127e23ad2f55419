/** Octets that implementations of others have written or taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOW } from '../../../test/support/sms/gateway-dialects.ts';
import { decodeCmpp, encodeCmpp } from '../cmpp/layouts.ts';
import { readCmppReport } from '../cmpp/report.ts';
import { SGIP } from '../sgip/layouts.ts';
import { concatenationHeader } from '../text/concatenation.ts';
import { beijingStamp, isProven, loginDigest } from '../wire/login-digest.ts';

const STAMP = '0301000000';
const LOGIN = '1a06ed8323cbcf155ac60b8f712fd254';

test('the digests of logins', () => {
  assert.equal(loginDigest('900001', 9, '888888', STAMP), LOGIN);
  assert.equal(loginDigest('12345678', 7, 'pw', STAMP), 'cc88ee59ed1f4208a91be64b4ca80787');
  assert.equal(beijingStamp(NOW), '0301000005');
});

test("a gateway's digest is right with either width of the status", () => {
  for (const digest of ['fdcaf780e864faeb6fbd05f27d71790e', 'e6dfbb9a2d591ca98e325b063b1bec3b']) {
    assert.ok(isProven(digest, 0, LOGIN, '888888'));
    assert.ok(!isProven(digest, 0, LOGIN, '888889'));
    assert.ok(!isProven(digest, 1, LOGIN, '888888'));
  }
  assert.ok(!isProven('', 0, LOGIN, '888888'));
});

test('a connect of CMPP 3.0', () => {
  const fields = { sourceAddr: '900001', authenticatorSource: LOGIN, version: 0x30, timestamp: 301_000_000 };
  const octets = encodeCmpp('3.0', { command: 'connect', sequence: 1, fields });
  assert.equal(
    octets.toString('hex'),
    `0000002700000001000000013930303030311a06ed8323cbcf155ac60b8f712fd2543011f0e540`,
  );
  const read = decodeCmpp('3.0', octets);
  assert.ok(read.command === 'connect');
  assert.deepEqual([read.fields, read.missing], [fields, undefined]);
});

const REPORT =
  'be9ccd4000025dee44454c495652443236313132393037303132363131323930373032313338303031333830303000000000' +
  '00000000000000000007';

test('a report of CMPP 2.0', () => {
  const content = Buffer.from(REPORT, 'hex');
  assert.equal(content.length, 60);
  assert.deepEqual(readCmppReport(content, { statusWords: [], receiptNumber: 'check' }), {
    carrierId: 'be9ccd4000025dee',
    keys: ['be9ccd4000025dee'],
    state: 'delivered',
    isFinal: true,
    word: 'DELIVRD',
    destination: '+8613800138000',
    number: '+8613800138000',
    submittedAt: Date.UTC(2026, 10, 28, 23, 1),
    doneAt: Date.UTC(2026, 10, 28, 23, 2),
    raw:
      'Msg_Id:be9ccd4000025dee (13735078638334926318) Stat:DELIVRD Submit_time:2611290701 Done_time:2611290702 ' +
      'Dest_terminal_Id:13800138000',
  });
});

const SGIP_REPORT =
  '00000040000000050001adb0434c438c00000003b36aab59434c432800000005003836313330303030303030303100000000' +
  '00000000021d0000000000000000';

test('a report of SGIP', () => {
  const packet = SGIP.decode(Buffer.from(SGIP_REPORT, 'hex'));
  assert.ok(packet.command === 'report' && packet.missing === undefined && packet.rest.length === 0);
  assert.deepEqual(packet.fields, {
    submitSequence: 'b36aab59434c432800000005',
    reportType: 0,
    userNumber: '8613000000001',
    state: 2,
    errorCode: 29,
    reserve: '',
  });
  assert.equal(SGIP.encode(packet).toString('hex'), SGIP_REPORT);
});

test('the header of the first part of two', () => {
  assert.equal(concatenationHeader({ reference: 2, part: 1, parts: 2 }).toString('hex'), '050003020201');
});
