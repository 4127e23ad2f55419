import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoutingTable, DEFAULT_LABEL, labelOfGroups, type RoutedEdge } from './routing-table.ts';

function edge(id: string, more: Partial<RoutedEdge> = {}): RoutedEdge {
  return { edge: id, addresses: ['192.0.2.1'], port: 80, weight: 100, isDraining: false, ...more };
}

const EDGES = [
  edge('local'),
  edge('fra1', { group: 'eu' }),
  edge('nyc1', { group: 'us' }),
  edge('off1', { group: 'eu', weight: 0 }),
  edge('new1', { group: 'eu', addresses: [] }),
];

test('a domain is served by the edges of its groups, or of the default ones, and by those of machines with control', () => {
  const ofDomain = new Map([
    [7, ['us', 'eu']],
    [8, ['eu', 'us']],
    [9, ['us']],
  ]);
  const table = createRoutingTable({ edges: EDGES, defaults: ['eu'], ofDomain });
  const idsOf = (domainId: number) => table.sets.get(table.labelOf(domainId))?.edges.map(({ edge: id }) => id);
  assert.deepEqual(idsOf(1), ['local', 'fra1']);
  assert.deepEqual(idsOf(7), ['local', 'fra1', 'nyc1']);
  assert.deepEqual(idsOf(9), ['local', 'nyc1']);
  assert.equal(table.labelOf(1), DEFAULT_LABEL);
  assert.equal(table.labelOf(7), table.labelOf(8));
  assert.equal(table.sets.size, 3);
});

test('the label of a set is the same on every machine and in every release', () => {
  assert.equal(labelOfGroups(['us', 'eu']), 's-6272ba13f0eb');
});
