import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { auditPath, readAuditQuery } from './routes/account.ts';
import {
  certificatesPath,
  logsPath,
  purgePath,
  readCertificatesQuery,
  readLogsQuery,
  readPurgeQuery,
} from './routes/delivery.ts';
import {
  changeDomainsPath,
  comparePath,
  domainPath,
  domainsPath,
  explainPath,
  readChangedDomains,
  readCompareQuery,
  readDomainsQuery,
  readDomainTab,
  readExplainQuery,
} from './routes/domains.ts';
import { overviewPath, readRangeQuery, readStatisticsQuery, statisticsPath } from './routes/statistics.ts';
import {
  allStreamsPath,
  liveDomainPath,
  readAllStreamsQuery,
  readStreamsQuery,
  sameOrigin,
  streamPath,
  streamsPath,
} from './routes/streams.ts';

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

  test('streams have addresses that lead back to them', () => {
    const query = { domain: '*.live.example', status: 'PAUSED', page: 3 } as const;
    assert.deepEqual(readStreamsQuery(searchOf(streamsPath(query))), query);
    assert.equal(streamsPath({ page: 1 }), '/streams');
    const all = { status: 'ONGOING', page: 2, open: '1001/live/news' } as const;
    assert.deepEqual(readAllStreamsQuery(searchOf(allStreamsPath(all))), all);
    assert.equal(liveDomainPath('*.live.example', 2), '/operator/streams/*.live.example?page=2');
    assert.deepEqual(readStreamsQuery('?status=constructor&page=-1'), { domain: '', status: '', page: 1 });
    assert.equal(streamPath({ domain: '../a', app: 'live', stream: 'news' }), '/streams/..%2Fa/live/news');
    assert.equal(sameOrigin('https://log.example:8443/recordings/a.m3u8?key=1'), '/recordings/a.m3u8?key=1');
  });

  test('what is chosen of statistics survives its address', () => {
    const query = { domains: ['7', '16'], isSplit: true, metric: 'bandwidth', compare: 'week' } as const;
    for (const range of ['24h', '1y', { from: 60, to: 120 }] as const)
      assert.deepEqual(readStatisticsQuery(searchOf(statisticsPath({ ...query, range }))), { ...query, range });
    for (const wrong of ['from=2&to=1', 'from=1&to=40000000', 'from=1', 'range=toString', ''])
      assert.equal(readStatisticsQuery(`?${wrong}`).range, '24h', wrong);
    const ids = Array.from({ length: 30 }, (_, n) => n + 1);
    assert.equal(readStatisticsQuery(`?domains=x,1,1,${ids}`).domains.length, 20);
  });

  test('filters of certificates, purges, logs and the audit survive their addresses', () => {
    const certificates = { page: 3, ssl_key: 'a b' };
    assert.deepEqual(readCertificatesQuery(searchOf(certificatesPath(certificates))), certificates);
    assert.deepEqual(readCertificatesQuery('?page=0'), { page: 1, ssl_key: '' });
    const purge = { act: 'prefetch', task: '17' } as const;
    assert.deepEqual(readPurgeQuery(searchOf(purgePath(purge))), purge);
    const logs = { view: 'tail', domain: 'a.example' } as const;
    assert.deepEqual(readLogsQuery(searchOf(logsPath(logs))), logs);
    const search = { view: 'search', domain: '', search: { filter: 'path=/a&b', from: 60, to: 120 } } as const;
    assert.deepEqual(readLogsQuery(searchOf(logsPath(search))), search);
    const audit = { account: '2', operation: 'domain.change', target_kind: 'domain', target_id: '1', event: '9' };
    assert.deepEqual(readAuditQuery(searchOf(auditPath(audit, 'allAudit'))), audit);
    assert.equal(auditPath({ account: '2' }, 'allAudit'), '/operator/audit?account=2');
    assert.equal(readAuditQuery('?account=mine').account, '');
  });

  test('domains that are changed together are named by their address, each once, at most 100', () => {
    assert.deepEqual(readChangedDomains(searchOf(changeDomainsPath(['17', '4', '17']))), ['17', '4']);
    assert.deepEqual(readChangedDomains('?ids=.x.-1.5'), ['5']);
    assert.deepEqual(readChangedDomains(''), []);
    assert.equal(readChangedDomains(`?ids=${Array.from({ length: 200 }, (_, n) => n + 1).join('.')}`).length, 100);
  });
});
