import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  accountPath,
  accountsPath,
  allDomainsPath,
  connectorsPath,
  edgePath,
  edgesPath,
  editConnectorPath,
  healthPath,
  peoplePath,
  readAccountsQuery,
  readAccountTab,
  readAllDomainsQuery,
  readConnectorName,
  readConnectorsQuery,
  readEdgesQuery,
  readHealthQuery,
  readPageQuery,
  readPeopleQuery,
  reviewPath,
} from './operators.ts';

function searchOf(path: string): string {
  return new URL(path, 'http://localhost').search;
}

describe('addresses of the operator', () => {
  test('filters survive their addresses', () => {
    const accounts = { name: '例 &=?#', page: 3 };
    assert.deepEqual(readAccountsQuery(searchOf(accountsPath(accounts))), accounts);
    const edges = { view: 'events', group: 'eu', status: 'away', page: 2 } as const;
    assert.deepEqual(readEdgesQuery(searchOf(edgesPath(edges))), edges);
    const health = { view: 'events', severity: 'critical', page: 4 } as const;
    assert.deepEqual(readHealthQuery(searchOf(healthPath(health))), health);
    const connectors = { view: 'services', page: 2 } as const;
    assert.deepEqual(readConnectorsQuery(searchOf(connectorsPath(connectors))), connectors);
    const domains = { name: 'a&b', status: '6', page: 2 } as const;
    assert.deepEqual(readAllDomainsQuery(searchOf(allDomainsPath(domains))), domains);
    const people = { text: 'li@例.example', page: 2 };
    assert.deepEqual(readPeopleQuery(searchOf(peoplePath(people))), people);
    assert.equal(readConnectorName(searchOf(editConnectorPath('a/b &c'))), 'a/b &c');
    assert.deepEqual(readPageQuery(searchOf(reviewPath(5))), { page: 5 });
  });

  test('what is as usual is not in an address', () => {
    assert.equal(accountsPath({ name: '', page: 1 }), '/operator/accounts');
    assert.equal(edgesPath({ view: 'edges', status: '' }), '/operator/edges');
    assert.equal(accountPath('2'), '/operator/accounts/2');
    assert.equal(accountPath('2', 'domains', 2), '/operator/accounts/2/domains?page=2');
    assert.equal(edgePath('fra1'), '/operator/edges/fra1');
  });

  test('an address that somebody wrote by hand is read as far as it makes sense', () => {
    assert.equal(readAccountTab('nothing'), 'overview');
    assert.deepEqual(readEdgesQuery('?status=gone&view=__proto__&page=-1'), {
      view: 'edges',
      group: '',
      status: '',
      page: 1,
    });
    assert.deepEqual(readHealthQuery('?severity=9&page=0'), { view: 'health', severity: '', page: 1 });
  });
});
