import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedSettings, connectorValues } from './connector-values.ts';

const STORED = {
  name: 'carrier',
  kind: 'smpp',
  enabled: '1',
  rate: 100,
  host: 'smsc.example',
  port: 2775,
  sender: '1069',
  status_words: ['MK:0012=failed'],
  revision: '7',
} as const;
const stored = { ...STORED, status_words: [...STORED.status_words] };

test('a changed connector is sent with its differences alone, and never with an empty password', () => {
  const values = connectorValues(stored);
  assert.equal(values['port'], '2775');
  assert.equal('revision' in values, false);
  assert.deepEqual(changedSettings(stored, values), { name: 'carrier' });
  assert.deepEqual(changedSettings(stored, { ...values, rate: '50', sender: '', status_words: [], password: '' }), {
    name: 'carrier',
    rate: '50',
    sender: '',
    status_words: [],
  });
  assert.deepEqual(changedSettings(stored, { ...values, password: 'secret' }), { name: 'carrier', password: 'secret' });
});

test('a new connector is sent without the fields that were left empty', () => {
  const values = { ...connectorValues(undefined), name: 'new', host: 'smsc.example', sender: '' };
  assert.deepEqual(changedSettings(undefined, values), { name: 'new', kind: 'smpp', tls: '0', host: 'smsc.example' });
});

test('a new connector is sent without what only another kind has', () => {
  const typed = { ...connectorValues(undefined), name: 'new', system_id: 'a', account: '900001', pk: 'one' };
  assert.deepEqual(changedSettings(undefined, { ...typed, kind: 'smgp' }), {
    name: 'new',
    kind: 'smgp',
    tls: '0',
    account: '900001',
  });
});
