import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLE_SESSION } from '#contract/people/session-fields.ts';
import { lacksSecondFactor, viewOf } from './session-state.ts';

const [account] = SAMPLE_SESSION.accounts;
const asked = account === undefined ? [] : [{ ...account, second_factor: '1' as const }];

test('a session lacks the second factor that its account asks for while a password alone has begun it', () => {
  assert.equal(lacksSecondFactor({ ...SAMPLE_SESSION, method: 'password' }), false);
  assert.equal(lacksSecondFactor({ ...SAMPLE_SESSION, accounts: asked, method: 'password' }), true);
  assert.equal(lacksSecondFactor({ ...SAMPLE_SESSION, accounts: asked, method: 'second' }), false);
  assert.equal(lacksSecondFactor({ ...SAMPLE_SESSION, accounts: asked, method: 'token', person: null }), false);
});

test('another person, token, account or customer is another view', () => {
  const views = [
    SAMPLE_SESSION,
    { ...SAMPLE_SESSION, account_id: '3' },
    { ...SAMPLE_SESSION, person: null },
    { ...SAMPLE_SESSION, person: null, token: { token_id: '3', label: '' } },
    { ...SAMPLE_SESSION, look: { account_id: '9', account_name: '', reason: '', until: 1 } },
  ].map(viewOf);
  assert.equal(new Set(views).size, views.length);
  assert.equal(viewOf({ ...SAMPLE_SESSION, method: 'second', strong_until: 7 }), views[0]);
});
