/** The filter's language, as a table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileFilter, parseFilter } from './filter.ts';

const line = (fields: { client?: string; method?: string; target?: string; outcome?: string }) => {
  const { client = '203.0.113.9', method = 'GET', target = '/a.jpg?v=1', outcome = 'TCP_HIT/200' } = fields;
  return [client, 'time', '15', '412', '20931', 'www.example.com', method, target, 'HTTP/1.1', outcome, '-', '-', '-'];
};

test('a line matches if each field has one of its values', () => {
  const rows: readonly (readonly [filter: string, fields: Parameters<typeof line>[0], expected: boolean])[] = [
    ['', {}, true],
    ['status=200', {}, true],
    ['status=2xx', {}, true],
    ['status=2XX', {}, true],
    ['status=404,5xx', {}, false],
    ['status=404,5xx', { outcome: 'NONE/502' }, true],
    ['method=get', {}, true],
    ['method=HEAD,POST', { method: 'POST' }, true],
    ['method=HEAD', {}, false],
    ['path=/a', {}, true],
    ['path=/a.jpg?v=1', {}, false],
    ['path=/A', {}, false],
    ['path=*.jpg', {}, true],
    ['path=/*.png', {}, false],
    ['path=/api/*/x,/b', { target: '/api/1/2/x' }, true],
    ['path=/a*a', { target: '/a' }, false],
    ['path=/aa*aa', { target: '/aaa' }, false],
    ['path=/aa*aa', { target: '/aaaa' }, true],
    ['path=/*/*/', { target: '/a/' }, false],
    ['path=*', { target: '*' }, true],
    ['client=203.0.113.0/24', {}, true],
    ['client=203.0.113.9', {}, true],
    ['client=2001:db8::/32', { client: '2001:db8::1' }, true],
    ['client=2001:db8::/32', {}, false],
    ['cache=hit', {}, true],
    ['cache=HIT', { outcome: 'TCP_IMS_HIT/304' }, true],
    ['cache=miss', {}, false],
    ['cache=tcp_mem_hit', {}, false],
    ['cache=error,denied', { outcome: 'TCP_DENIED/403' }, true],
    ['edge=fra1', {}, true],
    ['edge=fra2,fra3', {}, false],
    ['status=2xx  method=GET\tpath=/a cache=hit', {}, true],
    ['status=2xx method=POST', {}, false],
    ['status=404 status=200', {}, true],
  ];
  for (const [text, fields, expected] of rows) {
    const parsed = parseFilter(text);
    assert.ok(parsed.kind === 'filter', text);
    assert.equal(compileFilter(parsed.filter, 'fra1')(line(fields)), expected, text);
  }
});

test('a term that cannot be read is named with its field', () => {
  const rows: readonly (readonly [text: string, term: string, field: string | undefined])[] = [
    ['status=600', 'status=600', 'status'],
    ['status=40x', 'status=40x', 'status'],
    ['status=', 'status=', undefined],
    ['status=200,', 'status=200,', 'status'],
    ['cache=hit client=nobody', 'client=nobody', 'client'],
    ['path=index.html', 'path=index.html', 'path'],
    ['referer=x', 'referer=x', undefined],
    ['constructor=x', 'constructor=x', undefined],
    ['cache=constructor', 'cache=constructor', 'cache'],
    ['5xx', '5xx', undefined],
  ];
  for (const [text, term, field] of rows) assert.deepEqual(parseFilter(text), { kind: 'problem', term, field }, text);
});
