/** `causeway sms` against a running service with the loopback connector, and without one. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { startControl } from '../support/cli/control.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand, startService } from '../support/process/service.ts';

test('a service is made, a message is sent and shown as simulated, and the balance is shown', async (t) => {
  const service = await startService(t);
  const sms = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, ['sms', ...args, '--data-dir', service.dataDir]);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    return stdout;
  };
  const { app_key, balance } = JSON.parse(await sms('app', 'create', '--name', 'shop', '--balance', '50', '--json'));
  assert.match(app_key, /^sms_[\w-]{22}$/);
  assert.equal(balance, 50);
  const sent = await sms('send', '你好 100% + 1', '--app', app_key, '--to', '13800138000');
  const sendid = /^sendid (\d+)$/m.exec(sent)?.[1] ?? '';
  const { numbers } = await eventually('it is simulated', async () => {
    const told = JSON.parse(await sms('status', sendid, '--json'));
    return told.numbers[0].status === 'simulated' && told;
  });
  assert.equal(numbers[0].mobile, '+8613800138000');
  const [{ done_time, ...part }] = numbers[0].parts;
  assert.deepEqual(
    part,
    { part: 1, status: 'simulated', submit_time: '', error: '', last_word: '', group: '', text: '', sends: 0 },
    'nothing went out',
  );
  assert.match(done_time, /^\d{4}-/);
  assert.match(await sms('ledger', '1'), /^balance 49\n(.*\n){1,3}.*hold +-1 /);
  assert.match(await sms('list', '--app', app_key), new RegExp(`^${sendid} +ordinary`, 'm'));
  assert.match(await sms('connector', 'test', 'loopback'), /reaches no carrier/);
  assert.match(await sms('replies', '--app', app_key), /^REPLY/);
  assert.match(await sms('unread'), /^ENTRY/);
  await sms('opt-out', 'add', '13700137000', '13600136000');
  await sms('opt-out', 'add', '13500135000', '--everybody');
  assert.match(await sms('opt-out', 'list', '--everybody'), /^NUMBER +SINCE\n\+8613500135000 [^\n]+\n$/);

  await service.stop();
  const file = join(service.dataDir, 'password.txt');
  writeFileSync(file, 'hush!\n');
  const carrier = ['--host', '127.0.0.1', '--port', '1', '--system-id', 'shop', '--password-file', file];
  await sms('connector', 'set', 'carrier', ...carrier, '--tls', 'on', '--window', '5');
  const session = [
    '--interface-version',
    '33',
    '--bind-seconds',
    '5',
    '--enquire-seconds',
    '7',
    '--response-seconds',
    '9',
  ];
  const addresses = ['--sender-type', '5,0', '--destination-type', '2,8', '--tls-server-name', 'smsc.example'];
  const receipts = ['--registered-delivery', '2', '--receipt-zone-minutes', '-300', '--unmarked-receipts', 'on'];
  const unknown = ['--receipt-number', 'ignore', '--unknown-after', 'refund'];
  const words = ['--status-words', 'MK:*=expired,SENT=on_the_way'];
  await sms('connector', 'set', 'carrier', ...session, ...addresses, ...receipts, ...unknown, ...words);
  const [, set] = JSON.parse(await sms('connector', 'list', '--json'));
  const { host, window, tls, ...asked } = set;
  assert.deepEqual([host, window, tls], ['127.0.0.1', 5, '1'], 'what is not given stays');
  const expected = {
    ...{ interface_version: '33', bind_seconds: 5, enquire_seconds: 7, response_seconds: 9, sender_type: '5,0' },
    ...{ destination_type: '2,8', tls_server_name: 'smsc.example', registered_delivery: '2' },
    ...{ receipt_zone_minutes: -300, unmarked_receipts: '1', receipt_number: 'ignore', unknown_after: 'refund' },
    status_words: ['MK:*=expired', 'SENT=on_the_way'],
  };
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(asked[name], value, name);
  const table = join(service.dataDir, 'words.csv');
  writeFileSync(table, '\uFEFF# word,state\r\nMK:0001, failed, absent, 不在, away\r\n\nMK:*,expired\n');
  await sms('connector', 'set', 'carrier', '--status-words-file', table);
  const [, fromFile] = JSON.parse(await sms('connector', 'list', '--json'));
  assert.deepEqual(fromFile.status_words, ['MK:0001=failed|absent|不在|away', 'MK:*=expired']);
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(t, ['sms', ...args, '--data-dir', service.dataDir]);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    return stderr;
  };
  writeFileSync(table, 'MK:0001,failed\nMK:0002,lost\n');
  assert.match(
    await refused('connector', 'set', 'carrier', '--status-words-file', table),
    /^causeway: .*words\.csv, line 2: expected word,state .*; found "MK:0002,lost"$/m,
  );
  assert.match(
    await refused('connector', 'set', 'carrier', '--window', '1001'),
    /^causeway: --window is invalid: expected an integer from 1 to 1000; found 1001$/m,
  );
  assert.match(await refused('recharge', '1', 'x'), /^causeway: <amount> is invalid: .*; found "x"$/m);
  assert.match(await refused('connector', 'test', 'carrier'), /^causeway: cannot open a session: ./);
  assert.equal(await refused('connector', 'disable', 'carier'), 'causeway: unknown connector carier\n');
  await sms('connector', 'disable', 'carrier');
  assert.match(await sms('connector', 'list'), /^carrier +smpp +off +127\.0\.0\.1:1$/m);
  assert.equal(await sms('connector', 'enable', 'carrier'), 'connector carrier enabled\n');
  await sms('route', 'set', 'carrier,loopback', '--prefix', '+852');
  assert.match(await sms('route', 'list'), /^\+852 +carrier, loopback$/m);
  assert.equal(
    await refused('connector', 'remove', 'carrier'),
    'causeway: connector "carrier" cannot be deleted: routes use it (of +852): change those first\n',
  );
  await sms('route', 'remove', '--prefix', '+852');
  assert.match(await refused('route', 'remove', '+852'), /^causeway: there is no route for the prefix "\+852"/);
  assert.match(await refused('route', 'remove', '+852', '--prefix', '+853'), /^causeway: expected one prefix/);
  assert.equal(await refused('route', 'remove'), "causeway: --prefix is required; '' is the default route\n");
  assert.equal(await sms('connector', 'remove', 'carrier'), 'connector carrier removed\n');
  assert.equal(await refused('connector', 'remove', 'carrier'), 'causeway: connector "carrier" does not exist\n');
  await sms('price', 'set', '7', '--kind', 'advertising');
  assert.match(await sms('price', 'list'), /^advertising +all +7$/m);
  await sms('price', 'set', '9', '--kind', 'ordinary', '--prefix', '+852');
  assert.equal(await sms('price', 'remove', '--kind', 'ordinary', '--prefix', '+852'), 'price removed\n');
  assert.match(
    await refused('price', 'remove', '--kind', 'ordinary', '--prefix', '+852'),
    /^causeway: the prefix \+852 has no price for ordinary messages$/m,
  );
  assert.equal(
    await refused('price', 'remove', '--kind', 'ordinary', '--prefix', ''),
    'causeway: --prefix must not be empty: the default price can be changed but not removed\n',
  );
  assert.equal(await sms('recharge', '1', '11', '--reference', 'invoice 7'), 'balance 60\n');
  assert.equal(await sms('recharge', '1', '11', '--reference', 'invoice 7'), 'balance 60\n', 'once');
  assert.match(await sms('ledger', '1'), /recharge +11 +invoice 7 /);
  await sms('opt-out', 'remove', '13500135000', '--everybody');
  assert.match(await sms('opt-out', 'list', '--everybody'), /^NUMBER +SINCE\n$/);
  const none = await refused('opt-out', 'remove', '13500135000', '--everybody');
  assert.equal(none, 'causeway: none of these numbers had opted out\n');
});

test('services beyond one page of the operation are listed, too', async (t) => {
  const service = await startControl(t);
  const operator = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const names = Array.from({ length: 101 }, (_, n) => `shop ${n}`);
  for (const name of names) await operator.call('smsOperator.createApp', { name });
  const { stdout } = await runCommand(t, ['sms', 'app', 'list', '--json', '--data-dir', service.dataDir]);
  assert.deepEqual(
    JSON.parse(stdout).map(({ name }: { readonly name: string }) => name),
    names,
  );
});
