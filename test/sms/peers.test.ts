/** What others make of our SMPP: tshark as a dissector, Kannel's C code as a carrier that knows no transceiver. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { encodePdu } from '#sms/smpp/encode.ts';
import { type Command, type Field, type Fields, LAYOUTS, type Layout, type Value } from '#sms/smpp/layouts.ts';
import { TAGS } from '#sms/smpp/tlvs.ts';
import { splitText } from '#sms/text/split.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { connectTestCarrier, partToSubmit, smppSettings } from '../support/sms/carrier.ts';
import { dissect, recordConversation } from '../support/sms/dissect.ts';
import { startSmsc } from '../support/sms/smsc.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('tshark reads every PDU that we write, and finds none malformed', needs('tshark', 'text2pcap'), (t) => {
  // The keys of the table are the commands.
  const commands = Object.keys(LAYOUTS) as Command[];
  const pieces = commands.map((command, n) => {
    const tlvs = LAYOUTS[command].id < 0x80000000 ? [{ tag: TAGS.userMessageReference, value: Buffer.of(0, 7) }] : [];
    const fields = sampleOf(LAYOUTS[command].fields) as Fields<Command>;
    return { from: 'us' as const, octets: encodePdu({ command, status: 0, sequence: n + 1, fields, tlvs }) };
  });
  const seen = dissect(t, pieces, 'smpp', ['smpp.command_id', 'smpp.sequence_number', 'smpp.command_length']);
  const expected = pieces.map(({ octets }, n) => ({
    'smpp.command_id': `0x${octets.subarray(4, 8).toString('hex')}`,
    'smpp.sequence_number': String(n + 1),
    'smpp.command_length': String(octets.length),
  }));
  assert.deepEqual(seen, expected);
  assert.deepEqual(dissect(t, pieces, '_ws.malformed', ['frame.number']), []);
});

test(
  'tshark reassembles a long message, by its header and by parameters',
  needs('tshark', 'text2pcap', 'netSmpp'),
  async (t) => {
    const smsc = await startSmsc(t);
    const way = await recordConversation(t, smsc.port);
    const text = '你好😀'.repeat(40);
    const split = splitText(text);
    const parts = split.kind === 'parts' ? split.parts : [];
    for (const concatenation of ['udh', 'sar'] as const) {
      const { carrier, bound, receipts } = connectTestCarrier(t, smppSettings(way.port, { concatenation }));
      await bound();
      const submits = parts.map((part, n) =>
        carrier.submit(partToSubmit({ partId: n, text: part, part: n + 1, parts: parts.length, reference: 9 })),
      );
      assert.ok((await Promise.all(submits)).every(({ kind }) => kind === 'accepted'));
      await eventually('the receipts', () => receipts.length === parts.length);
      await carrier[Symbol.asyncDispose]();
    }
    const message = 'gsm_sms_ud.short_msg';
    const whole = dissect(t, way.pieces, 'gsm_sms_ud.fragments', [message, 'gsm_sms_ud.fragment.count']);
    assert.deepEqual(
      whole.map((it) => [
        Buffer.from(it[message]?.split(',').at(-1) ?? '', 'hex')
          .swap16()
          .toString('utf16le'),
        it['gsm_sms_ud.fragment.count'],
      ]),
      [
        [text, '3'],
        [text, '3'],
      ],
    );
    assert.deepEqual(dissect(t, way.pieces, '_ws.malformed', ['frame.number']), []);
    assert.ok(dissect(t, way.pieces, 'smpp.command_id == 0x80000005', ['frame.number']).length > 0);
  },
);

test(
  "a carrier of Kannel's accepts our messages by one session and delivers by another",
  needs('driveSmpp'),
  async (t) => {
    const port = await freePort();
    const program = await startDriveSmpp(t, port, 3);
    const { carrier, bound, replies } = connectTestCarrier(t, smppSettings(port, { bind: 'pair' }));
    await bound();
    const outcomes = await Promise.all(
      [1, 2, 3].map((n) => carrier.submit(partToSubmit({ partId: n, part: n, parts: 3 }))),
    );
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['accepted', 'accepted', 'accepted'],
    );
    await eventually('what it delivers', () => replies.length === 3);
    assert.deepEqual(
      replies.map(({ text }) => text),
      ['1', '2', '3'],
    );
    const count = (words: string) => program.output().split(words).length - 1;
    await eventually('our answers', () => count('type deliver_sm_resp') === 3 && count('type enquire_link_resp') === 3);
    await carrier[Symbol.asyncDispose]();
    await eventually('both sessions are unbound', () => count('type unbind') === 2);
    assert.equal(count('ERROR') + count('PANIC') + count('WARNING'), 0, program.output());
  },
);

/** Port that Kannel's bearerbox also needs. */
const BOX_PORT = 13_001;

async function startDriveSmpp(t: TestContext, port: number, messages: number) {
  const box = createServer((socket) => socket.on('error', () => {}).resume());
  box.on('error', () => {}); // somebody is there already
  box.listen(BOX_PORT, '127.0.0.1');
  t.after(() => box.close());
  const args = ['-v', '0', '-p', String(port), '-m', String(messages)];
  const child: ChildProcess = spawn(obtain('driveSmpp'), args, {
    cwd: temporaryFolder(t),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text));
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await eventually('it listens', () => output.includes('accept_thread) maps'));
  return { output: () => output };
}

/** One value for each field. */
function sampleOf(layout: Layout): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(layout).map(([name, field]) => [name, sampleField(field)]));
}

function sampleField(field: Field): Value {
  switch (field.kind) {
    case 'text':
      return field.maxOctets === 17 ? '' : 'a1';
    case 'octets':
      return Buffer.from('4f60', 'hex');
    case 'groups':
      if (!('tagged' in field)) return [sampleOf(field.group)];
      return Object.entries(field.tagged).map(([flag, group]) => ({ flag: Number(flag), ...sampleOf(group) }));
    default:
      return 1;
  }
}
