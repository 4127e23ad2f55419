import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  certificateDays,
  ofCertificates,
  ofDeliveries,
  ofDomains,
  ofEdges,
  ofEvents,
  ofLimits,
  ofPropagation,
} from './attention-of.ts';

const NOW = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;

type Domain = Parameters<typeof ofDomains>[0][number];
type Event = Parameters<typeof ofEvents>[0][number];
type Delivery = Parameters<typeof ofDeliveries>[1]['list'][number];

const domain = (domain_status: number | '5'): Domain =>
  ({ domain_id: '7', domain_name: 'a.example', domain_status, status: 'rejected' }) as Domain; // of what is read

const event = (kind: Event['kind'], origin: string, id = '7'): Event => ({
  ...{ event_id: '1', time: 0, account_id: '2', actor: 'control', kind, severity: 'warning', text: kind },
  ...{ target: { kind: 'domain', id, name: 'a.example' }, data: { origin } },
});

describe('what needs attention', () => {
  test('a domain that was refused or disabled, and none that is closed or being changed', () => {
    const found = ofDomains([0, 1, 2, '5' as const, 6].map(domain));
    assert.deepEqual(
      found.map(({ tone, about, to, what }) => [tone, about, to, what]),
      Array(2).fill(['bad', 'a.example', '/domains/7', { kind: 'text', text: 'rejected' }]),
    );
  });

  test('a change that an edge refuses', () => {
    const counts = { waiting: 3, done: 1, refused: 0, away: 2 };
    assert.deepEqual(ofPropagation(domain(1), { counts }), []);
    const [found] = ofPropagation(domain(1), { counts: { ...counts, refused: 2 } });
    assert.deepEqual([found?.to, found?.what], ['/domains/7/propagation', { kind: 'refused', edges: 2 }]);
  });

  test('a certificate that is used and ends soon', () => {
    const certificate = (days: number, domains = 1) => {
      return { ssl_key: 'k', title: 'c', validto_time: (NOW + days * DAY_MS) / 1000, domains };
    };
    assert.deepEqual(ofCertificates([certificate(21), certificate(3, 0)], NOW), []);
    assert.deepEqual(
      ofCertificates(
        [20, 7, 6.9, -1].map((days) => certificate(days)),
        NOW,
      ).map(({ tone }) => tone),
      ['warn', 'warn', 'bad', 'bad'],
    );
    assert.equal(certificateDays(0, NOW), undefined);
  });

  test('a quota from four fifths on, unless it allows nothing', () => {
    const free = { limit: 100, used: 79 };
    const limits = { domains: free, purge_urls: free, purge_directories: free, prefetch_urls: { limit: 0, used: 0 } };
    assert.deepEqual(ofLimits(limits), []);
    const used = { ...limits, domains: { limit: 10, used: 8 }, prefetch_urls: { limit: 5, used: 5 } };
    assert.deepEqual(
      ofLimits(used).map(({ tone, to }) => [tone, to]),
      [
        ['warn', '/domains'],
        ['bad', '/purge?act=prefetch'],
      ],
    );
  });

  test('what began and has not ended, each origin by itself', () => {
    const texts = ofEvents([
      event('origin.up', 'a'),
      event('origin.down', 'b'),
      event('origin.down', 'a'),
      event('origin.up', 'b'),
      event('origin.down', 'c', '8'),
      event('certificate.recovered', ''),
      event('certificate.failing', ''),
      event('certificate.failing', '', '9'),
    ]).map(({ to, what }) => [to, what.kind === 'text' && what.text]);
    assert.deepEqual(texts, [
      ['/domains/7/origin', 'origin.down'],
      ['/domains/8/origin', 'origin.down'],
      ['/domains/9/https', 'certificate.failing'],
    ]);
  });

  test('edges that are away, of all groups together', () => {
    const edges = [
      { group: 'a', status: 'away', count: 2 },
      { group: 'b', status: 'away', count: 1 },
      { group: 'b', status: 'ready', count: 9 },
    ] as const;
    assert.deepEqual(
      ofEdges({ edges: [...edges] }).map(({ what }) => what),
      [{ kind: 'edges', status: 'away', count: 3 }],
    );
  });

  test('a webhook whose last post was not taken', () => {
    const delivery = (outcome: Delivery['outcome']) => ({ outcome }) as Delivery; // what is read of it
    assert.deepEqual(ofDeliveries('shop', { waiting: 0, list: [] }), []);
    assert.deepEqual(ofDeliveries('shop', { waiting: 0, list: [delivery('delivered'), delivery('retry')] }), []);
    assert.equal(ofDeliveries('shop', { waiting: 4, list: [delivery('retry')] }).length, 1);
  });
});
