import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ServiceError } from '#contract/errors.ts';
import { OPERATIONS, type RequestOf } from '#contract/operations.ts';
import { DEFAULT_SETTINGS, type Domain } from '#model/domain.ts';
import { compileSite } from '#sites/compile.ts';
import { toSiteSpec } from './site-spec.ts';
import { READ } from './wire.ts';

const BASE = { accountId: 1, id: 7, state: 'open', createdAt: 0, settingRevision: 0 } as const;

/** The domain that `addDomain` would make of a request; `undefined` when it is refused. That origins are there, the handler sees to. */
function domainOf(request: unknown): Domain | undefined {
  const decoded = OPERATIONS['domain.add'].request.schema.safeParse(request);
  if (!decoded.success) return undefined;
  const wanted: RequestOf<'domain.add'> = decoded.data;
  try {
    const { name, type, icpNumber, remark, ...settings } = READ['domain.add'](wanted);
    return { ...BASE, name, type, icpNumber, remark, settings: { ...DEFAULT_SETTINGS, ...settings } };
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** Text of the letters that names and addresses are made of, so that much of it is accepted. */
const word = fc.string({ unit: fc.constantFrom(...'ab09-_.:/?#%[]*@ ßÄ例\n\t'), maxLength: 20 });
const host = fc.oneof(
  word,
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]:81`),
);

describe('a spec for the edges', () => {
  test('compiles, whatever the API accepted', () => {
    let accepted = 0;
    const request = fc.record({
      domain: fc.oneof(
        host,
        fc.domain().map((name) => `*.${name}`),
      ),
      cdn_type: fc.constantFrom(1, 2, 3, 4, 6),
      data: fc.array(host, { minLength: 1, maxLength: 3 }),
      backup: fc.array(host, { maxLength: 2 }),
      source_type: fc.constantFrom('', 'http', 'https', 'protocol_follow'),
      sourcehost: fc.oneof(host, fc.constant('')),
      monitor_url: fc.oneof(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        word.map((path) => `http://a.example/${path}`),
        fc.string({ unit: 'grapheme', maxLength: 300 }).map((path) => `http://a.example/${path}?${path}`),
        fc.constant(''),
      ),
    });
    fc.assert(
      fc.property(request, (wanted) => {
        const domain = domainOf(wanted);
        if (domain === undefined || (domain.type !== 'live' && domain.settings.origins.length === 0)) return;
        accepted += 1;
        const compiled = compileSite(toSiteSpec(domain), 1);
        assert.equal(compiled.kind, 'site', JSON.stringify([compiled, wanted]));
      }),
      { numRuns: 3000, seed: 1 },
    );
    assert.ok(accepted > 50, `only ${accepted} were accepted`);
  });

  test('is not there while a domain waits for its review', () => {
    const domain = domainOf({ domain: 'a.example', cdn_type: 1, data: 'b.example' });
    assert.ok(domain !== undefined);
    assert.equal(toSiteSpec({ ...domain, state: 'pending' }), undefined);
  });

  test('has only path and query of the probe', () => {
    const rows: readonly [string, string][] = [
      ['', ''],
      ['http://a.example', '/'],
      ['https://127.0.0.1:22/x/../y?z=1#w', '/y?z=1'],
      ['http://a.example/例', '/%E4%BE%8B'],
    ];
    for (const [monitorUrl, probePath] of rows) {
      const domain = domainOf({ domain: 'a.example', cdn_type: 1, data: 'b.example', monitor_url: monitorUrl });
      assert.ok(domain !== undefined);
      assert.equal(toSiteSpec(domain)?.origins.probePath, probePath);
    }
  });
});
