/** What gateways read of the submits that we write; they have the documents, not our tables. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { partToSubmit } from '../../../test/support/sms/carrier.ts';
import { dialectOf, GATEWAY_KINDS } from '../../../test/support/sms/gateway-dialects.ts';
import { type GatewayKind, PROTOCOLS } from '../../../test/support/sms/gateway-protocols.ts';
import type { PartToSubmit } from '../carrier.ts';
import { splitText } from '../text/split.ts';
import type { GatewayFields } from './settings.ts';

const ENTERPRISES = { cmpp2: '900001', cmpp3: '900001', smgp: '12345678', sgip: '12345' } as const;

function submitOf(kind: GatewayKind, part: Partial<PartToSubmit> = {}, changed: Partial<GatewayFields> = {}) {
  const dialect = dialectOf(kind, changed);
  const composed = dialect.compose(partToSubmit({ sender: '10690001', ...part }));
  if (composed.kind === 'refused') return composed;
  const key = dialect.sequences()(composed, () => false);
  return PROTOCOLS[kind].readSubmit(dialect.encode(composed, key));
}

for (const kind of GATEWAY_KINDS)
  describe(`submits of ${kind}`, () => {
    test('a short message', () => {
      const submit = submitOf(kind);
      assert.ok('content' in submit);
      const number = kind === 'sgip' ? '8613800138000' : '13800138000';
      const { sequence: _, content, part, parts, ...fields } = submit;
      assert.deepEqual(fields, {
        ...{ sender: '10690001', number, enterprise: ENTERPRISES[kind], service: 'SVC' },
        ...{ coding: 8, udhi: 0, wantsReport: 1 },
      });
      assert.equal(content.toString('hex'), '4f60597d');
      assert.deepEqual([part, parts], kind.startsWith('cmpp') ? [1, 1] : [0, 0]);
    });

    test('the parts of a long message are numbered and joined are the text, in either coding', () => {
      const text = `【签名】${'你好😀é'.repeat(30)}`;
      const split = splitText(text);
      assert.ok(split.kind === 'parts' && split.parts.length > 1);
      for (const coding of ['ucs2', 'auto'] as const)
        for (const udhiValue of [1, 64] as const) {
          let joined = '';
          for (const [n, piece] of split.parts.entries()) {
            const numbers = { part: n + 1, parts: split.parts.length, reference: 9 };
            const submit = submitOf(kind, { ...numbers, text: piece, texts: split.parts }, { coding, udhiValue });
            assert.ok('content' in submit);
            assert.equal(submit.udhi, udhiValue);
            assert.equal(submit.content.toString('hex', 0, 6), `050003090${split.parts.length}0${n + 1}`);
            assert.ok(submit.content.length <= 140);
            if (kind !== 'sgip') assert.deepEqual([submit.part, submit.parts], [n + 1, split.parts.length]);
            const octets = submit.content.subarray(6);
            joined += new TextDecoder(submit.coding === 15 ? 'gb18030' : 'utf-16be').decode(octets);
          }
          assert.equal(joined, text);
        }
    });

    test('GB18030 where it fits, and UCS-2 or nothing where it does not', () => {
      const han = submitOf(kind, { text: '退订' }, { coding: 'auto' });
      assert.ok('content' in han);
      assert.deepEqual([han.coding, han.content.toString('hex')], [15, 'cdcbb6a9']);
      // Four octets each, of 70 units.
      const wide = 'ﾀ'.repeat(70);
      const ucs2 = submitOf(kind, { text: wide }, { coding: 'auto' });
      assert.ok('content' in ucs2);
      assert.deepEqual([ucs2.coding, ucs2.content.length], [8, 140]);
      const refused = submitOf(kind, { text: wide }, { coding: 'gb18030' });
      assert.ok('status' in refused);
      assert.deepEqual([refused.class, /:\d+$/.test(refused.status)], ['permanent', true]);
    });

    test('the parts of a message have one coding, or none of them is sent', () => {
      const texts = ['退'.repeat(67), 'ﾀ'.repeat(67), '订'];
      const submitsOf = (coding: GatewayFields['coding']) =>
        texts.map((text, n) => submitOf(kind, { text, texts, part: n + 1, parts: texts.length }, { coding }));
      assert.deepEqual(
        submitsOf('auto').map((it) => 'content' in it && it.coding),
        [8, 8, 8],
      );
      assert.deepEqual(
        submitsOf('gb18030').map((it) => 'class' in it && it.class),
        ['permanent', 'permanent', 'permanent'],
      );
    });

    test('numbers in every form', () => {
      const numberIn = (numberForm: GatewayFields['numberForm'], destination: string) => {
        const submit = submitOf(kind, { destination }, { numberForm });
        return 'number' in submit ? submit.number : '';
      };
      assert.deepEqual(
        (['bare', '86', 'plus86'] as const).map((form) => numberIn(form, '+8613800138000')),
        ['13800138000', '8613800138000', '+8613800138000'],
      );
      assert.equal(numberIn('bare', '+85261234567'), '85261234567');
      // Without its plus, a number of Ohio is one of Anhui.
      assert.deepEqual(
        (['bare', '86', 'plus86'] as const).map((form) => numberIn(form, '+15134211234')),
        ['', '', '+15134211234'],
      );
    });

    test('reports are asked for as the connector says', () => {
      const asked = (['all', 'failures', 'none'] as const).map((receipts) => {
        const submit = submitOf(kind, {}, { receipts });
        return 'wantsReport' in submit ? submit.wantsReport : -1;
      });
      assert.deepEqual(asked, kind === 'sgip' ? [1, 0, 2] : [1, 1, 0]);
    });

    test('what no gateway takes is refused without being sent', () => {
      for (const part of [
        { sender: 'Name' },
        { sender: '1'.repeat(22) },
        { destination: 'x' },
        { text: '长'.repeat(71) },
      ]) {
        const refused = submitOf(kind, part);
        assert.ok('status' in refused, JSON.stringify(part));
        assert.ok(refused.status.startsWith(`${kind.replace(/\d/, '')}:`));
      }
    });
  });
