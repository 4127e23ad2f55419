import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { browserHeaders } from './browser-headers.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const KEPT = ['Cache-Control', 'max-age=3600', 'Expires', 'Fri, 02 Jan 2026 04:04:05 GMT'];
const SITE = { expiresSeconds: 3600, accessControlMaxAgeSeconds: 600 };

interface Row {
  readonly site?: Partial<typeof SITE>;
  readonly method?: string;
  readonly status?: number;
  readonly from: readonly string[];
  /** `same`: untouched. */
  readonly to: readonly string[] | 'same';
}

const ROWS: Readonly<Record<string, Row>> = {
  'without a word of the origin': { from: ['ETag', '"1"'], to: ['ETag', '"1"', ...KEPT] },
  'in place of what the origin says': {
    from: ['cache-control', 'public', 'Cache-Control', 's-maxage=1, must-revalidate', 'Expires', '0', 'A', 'b'],
    to: ['A', 'b', ...KEPT],
  },
  'a part': { status: 206, from: [], to: KEPT },
  'a permanent redirect': { status: 301, from: [], to: KEPT },
  'not modified': { status: 304, from: [], to: KEPT },
  'a HEAD': { method: 'HEAD', from: [], to: KEPT },
  'the age in this cache would shorten it': { from: ['Age', '99'], to: KEPT },
  'a lifetime of none': { from: ['Cache-Control', 'max-age=0, must-revalidate', 'Expires', '0'], to: KEPT },
  'no-transform stays': {
    from: ['Cache-Control', 'no-transform, max-age=1'],
    to: ['Cache-Control', 'max-age=3600, no-transform', ...KEPT.slice(2)],
  },
  'a targeted field is not for browsers': {
    from: ['CDN-Cache-Control', 'no-store'],
    to: ['CDN-Cache-Control', 'no-store', ...KEPT],
  },
  'nothing is set': { site: { expiresSeconds: 0 }, from: ['Age', '9', 'Cache-Control', 'public'], to: 'same' },
  'no-store': { from: ['Cache-Control', 'No-Store'], to: 'same' },
  'no-store on a later line': { from: ['Cache-Control', 'max-age=9', 'Cache-Control', 'no-store'], to: 'same' },
  private: { from: ['Cache-Control', 'private, max-age=9', 'Age', '1'], to: 'same' },
  'no-cache': { from: ['Cache-Control', 'no-cache'], to: 'same' },
  'no-cache for a field': { from: ['Cache-Control', 'no-cache="set-cookie"'], to: 'same' },
  'private for a field': { from: ['Cache-Control', 'private=x'], to: 'same' },
  'no-cache in the old form': { from: ['Pragma', 'no-cache'], to: 'same' },
  'a temporary redirect': { status: 302, from: [], to: 'same' },
  'not found': { status: 404, from: [], to: 'same' },
  'an error': { status: 500, from: [], to: 'same' },
  'a POST': { method: 'POST', from: [], to: 'same' },
};

const PREFLIGHT = ['origin', 'https://a.example', 'Access-Control-Request-Method', 'PUT'];
const MAX_AGE = ['Access-Control-Max-Age', '600'];

interface PreflightRow extends Row {
  readonly asked?: readonly string[];
}

const PREFLIGHTS: Readonly<Record<string, PreflightRow>> = {
  'an answer without it': { status: 204, from: ['A', 'b'], to: ['A', 'b', ...MAX_AGE] },
  'an answer with another': {
    status: 200,
    from: ['access-control-max-age', '5', 'A', 'b'],
    to: ['A', 'b', ...MAX_AGE],
  },
  'nothing is set': { site: { accessControlMaxAgeSeconds: 0 }, from: ['Access-Control-Max-Age', '5'], to: 'same' },
  'it failed': { status: 403, from: [], to: 'same' },
  'it was redirected': { status: 301, from: [], to: 'same' },
  'no Origin': { asked: PREFLIGHT.slice(2), from: [], to: 'same' },
  'no method asked for': { asked: PREFLIGHT.slice(0, 2), from: [], to: 'same' },
  'another method': { method: 'GET', site: { expiresSeconds: 0 }, from: [], to: 'same' },
};

describe('lifetimes in browsers', () => {
  for (const [name, { site, method = 'GET', status = 200, from, to }] of Object.entries(ROWS)) {
    test(`expires: ${name}`, () => {
      const headers = browserHeaders(
        { ...SITE, ...site },
        { method, headers: PREFLIGHT },
        { status, headers: from },
        NOW,
      );
      assert.deepEqual(headers, to === 'same' ? from : to);
    });
  }

  for (const [name, row] of Object.entries(PREFLIGHTS)) {
    test(`preflights: ${name}`, () => {
      const { site, asked = PREFLIGHT, method = 'OPTIONS', status = 200, from, to } = row;
      const headers = browserHeaders({ ...SITE, ...site }, { method, headers: asked }, { status, headers: from }, NOW);
      assert.deepEqual(headers, to === 'same' ? from : to);
    });
  }
});
