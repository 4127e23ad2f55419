import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GONE_KEEP_MS, NameTree } from './name-tree.ts';

const NOW = 1_800_000_000_000;

test('a name answers whatever other names there are, and what lies between is empty', () => {
  const label = fc.constantFrom('a', 'b', 'www', 'com', 'example', '_wildcard');
  const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));
  const step = fc.record({ name, isSet: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), name, (steps, asked) => {
      const tree = new NameTree();
      const model = new Map<string, number>();
      for (const [index, { name: each, isSet }] of steps.entries()) {
        if (isSet) tree.set(each, { domainId: index });
        else tree.delete(each);
        if (isSet) model.set(each, index);
        else model.delete(each);
      }
      for (const [each, domainId] of model) assert.deepEqual(tree.find(each, NOW), { kind: 'domain', domainId });
      assert.equal(tree.size, model.size);
      const isBetween = [...model.keys()].some((each) => each.endsWith(`.${asked}`));
      if (!model.has(asked)) assert.equal(tree.find(asked, NOW).kind, isBetween ? 'empty' : 'none');
    }),
  );
});

test('the name of a deleted domain answers for a day, and ends without leaving anything', () => {
  const tree = new NameTree();
  tree.set('www.example.com', { domainId: 1, goneAt: NOW });
  assert.equal(tree.find('www.example.com', NOW + GONE_KEEP_MS - 1).kind, 'domain');
  assert.equal(tree.find('www.example.com', NOW + GONE_KEEP_MS).kind, 'none');
  assert.deepEqual(tree.prune(NOW + GONE_KEEP_MS - 1), []);
  assert.deepEqual(tree.prune(NOW + GONE_KEEP_MS), ['www.example.com']);
  assert.equal(tree.find('com', NOW).kind, 'none');
});

test('a deleted domain that is added again stays', () => {
  const tree = new NameTree();
  tree.set('www.example.com', { domainId: 1, goneAt: NOW });
  tree.set('www.example.com', { domainId: 2 });
  assert.deepEqual(tree.prune(NOW + 2 * GONE_KEEP_MS), []);
  assert.deepEqual(tree.find('www.example.com', NOW + 2 * GONE_KEEP_MS), { kind: 'domain', domainId: 2 });
});
