import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  comparePath,
  domainPath,
  domainsPath,
  explainPath,
  overviewPath,
  readCompareQuery,
  readDomainsQuery,
  readDomainTab,
  readExplainQuery,
  readRangeQuery,
} from './routes.ts';

function searchOf(path: string): string {
  return new URL(path, 'http://localhost').search;
}

describe('addresses of the console', () => {
  test('a filter of the domains survives its address', () => {
    const query = { name: '例 &=?#.example', status: '5', type: '4', sort: 'traffic' } as const;
    assert.deepEqual(readDomainsQuery(searchOf(domainsPath(query))), query);
    assert.equal(domainsPath({ name: '', sort: 'created' }), '/domains');
  });

  test('an address that somebody wrote by hand is read as far as it makes sense', () => {
    const query = { name: 'x', status: '', type: '', sort: 'created' };
    assert.deepEqual(readDomainsQuery('?name=x&status=9&sort=drop&type=__proto__'), query);
    assert.equal(readDomainTab('nothing'), 'overview');
    assert.deepEqual(readCompareQuery('?older=17&newer=1e3'), { older: '17', newer: '' });
    assert.deepEqual(readRangeQuery('?range=century'), { range: '24h' });
  });

  test('parts of a domain have addresses that lead back to them', () => {
    assert.equal(domainPath('1001'), '/domains/1001');
    assert.equal(domainPath('../a', 'cache'), '/domains/..%2Fa/cache');
    const url = 'https://www.example.com/a?b=1&c=例';
    assert.deepEqual(readExplainQuery(searchOf(explainPath('1', url))), { url });
    assert.deepEqual(readCompareQuery(searchOf(comparePath('1', '17', '18'))), { older: '17', newer: '18' });
    assert.deepEqual(readRangeQuery(searchOf(overviewPath({ range: '7d' }))), { range: '7d' });
  });
});
