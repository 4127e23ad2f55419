import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateOrder } from '#model/certificate-order.ts';
import type { Authorization, Challenge, Order } from './resources.ts';
import { nextStep, type Step } from './step.ts';

const TOKEN = 'token-of-at-least-22-characters';
const ORDER: CertificateOrder = {
  domainId: 1,
  state: 'pending',
  detail: '',
  sslKey: '',
  issuedKey: '',
  url: 'https://ca/order/1',
  privateKey: '',
  failures: 0,
  dayBeganAt: 0,
  dayOrders: 1,
  requestedAt: 0,
  orderedAt: 1_000_000,
  dueAt: 0,
  renewAt: 0,
};
const PUBLISHED: CertificateOrder = {
  ...ORDER,
  state: 'challenged',
  challenge: { key: `a.example/${TOKEN}`, revision: 7, toldAt: 0 },
};
const SEEN: Order = {
  status: 'pending',
  authorizationUrl: 'https://ca/authz/1',
  finalizeUrl: 'https://ca/finalize/1',
  certificateUrl: undefined,
  problem: '',
  retryAfterMs: undefined,
};
const CHALLENGE: Challenge = { url: 'https://ca/chall/1', token: TOKEN, status: 'pending', problem: '' };
const OPEN: Authorization = { status: 'pending', challenge: CHALLENGE, retryAfterMs: undefined };
const HOUR_MS = 3_600_000;

interface Row {
  readonly order?: CertificateOrder;
  /** The authority's answer; absent: it was not asked yet. */
  readonly seen?: Partial<Order>;
  readonly authorization?: Authorization;
  readonly areEdgesReady?: boolean;
  readonly passedMs?: number;
  readonly step: Step;
}

const ROWS: Readonly<Record<string, Row>> = {
  'an order that the authority does not have is begun': { order: { ...ORDER, url: '' }, step: { kind: 'order' } },
  'the state of an order is asked first': { step: { kind: 'look' } },
  'the challenge is published to the edges': {
    seen: {},
    authorization: OPEN,
    step: { kind: 'publish', token: TOKEN },
  },
  'the authority is not asked before every edge answers': { order: PUBLISHED, step: { kind: 'wait', forMs: 250 } },
  'slow edges are checked less often, after whole milliseconds': {
    order: PUBLISHED,
    passedMs: 12_345,
    step: { kind: 'wait', forMs: 1_235 },
  },
  'the authority is asked to validate when every edge answers': {
    order: PUBLISHED,
    areEdgesReady: true,
    seen: {},
    authorization: OPEN,
    step: { kind: 'respond', url: CHALLENGE.url },
  },
  'the authority is given time to validate': {
    order: PUBLISHED,
    areEdgesReady: true,
    seen: {},
    authorization: { ...OPEN, retryAfterMs: 3_000, challenge: { ...CHALLENGE, status: 'processing' } },
    step: { kind: 'wait', forMs: 3_000 },
  },
  'the authority is not asked again while it may be validating': {
    order: { ...PUBLISHED, challenge: { key: `a.example/${TOKEN}`, revision: 7, toldAt: 1_000_000 } },
    passedMs: 59_999,
    areEdgesReady: true,
    seen: {},
    authorization: OPEN,
    step: { kind: 'wait', forMs: 1_000 },
  },
  'the authority is asked again after a minute': {
    order: { ...PUBLISHED, challenge: { key: `a.example/${TOKEN}`, revision: 7, toldAt: 1_000_000 } },
    passedMs: 60_000,
    areEdgesReady: true,
    seen: {},
    authorization: OPEN,
    step: { kind: 'respond', url: CHALLENGE.url },
  },
  'a challenge that the authority has replaced is published anew': {
    order: { ...PUBLISHED, challenge: { key: 'a.example/another-token-of-22-letters', revision: 3, toldAt: 0 } },
    areEdgesReady: true,
    seen: {},
    authorization: OPEN,
    step: { kind: 'publish', token: TOKEN },
  },
  'a finished challenge is withdrawn before the certificate is requested': {
    order: PUBLISHED,
    areEdgesReady: true,
    seen: { status: 'ready' },
    step: { kind: 'withdraw' },
  },
  'the certificate is requested once the order is ready': {
    seen: { status: 'ready' },
    step: { kind: 'finalize', url: SEEN.finalizeUrl },
  },
  'the certificate is waited for, a minute at a time at most': {
    seen: { status: 'processing', retryAfterMs: 600_000 },
    step: { kind: 'wait', forMs: 60_000 },
  },
  'the certificate is fetched when the order is valid': {
    order: { ...ORDER, privateKey: 'v1.sealed' },
    seen: { status: 'valid', certificateUrl: 'https://ca/cert/1' },
    step: { kind: 'download', url: 'https://ca/cert/1' },
  },
  'a certificate without its key is unusable': {
    seen: { status: 'valid', certificateUrl: 'https://ca/cert/1' },
    step: { kind: 'fail', problem: 'unusable', detail: 'its private key is not here any more' },
  },
  'a failed validation fails the order with its reason': {
    order: PUBLISHED,
    areEdgesReady: true,
    seen: { status: 'invalid', problem: 'an order' },
    authorization: { ...OPEN, status: 'ended', challenge: { ...CHALLENGE, status: 'ended', problem: 'a 403' } },
    step: { kind: 'fail', problem: 'validation', detail: 'a 403' },
  },
  'an authorization without HTTP-01 fails the order': {
    seen: {},
    authorization: { ...OPEN, challenge: undefined },
    step: { kind: 'fail', problem: 'refused', detail: 'the authority does not offer HTTP-01 for this name' },
  },
  'an order fails after an hour': { passedMs: HOUR_MS, step: { kind: 'fail', problem: 'expired', detail: '' } },
  'an order that waited an hour for edges says so': {
    order: PUBLISHED,
    passedMs: HOUR_MS,
    step: { kind: 'fail', problem: 'edges', detail: '' },
  },
};

for (const [name, { order = ORDER, seen, authorization, areEdgesReady = false, passedMs = 0, step }] of Object.entries(
  ROWS,
)) {
  test(name, () => {
    const facts = { areEdgesReady, now: order.orderedAt + passedMs };
    const said = seen && { order: { ...SEEN, ...seen }, authorization };
    assert.deepEqual(nextStep(order, { ...facts, seen: said }), step);
  });
}
