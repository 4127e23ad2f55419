import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTouched } from './touched.ts';

test('a change makes what shows it be read again, and nothing else', () => {
  assert.equal(isTouched('domain.settings', 'domain.change'), true);
  assert.equal(isTouched('config.getSsl', 'domain.change'), true);
  assert.equal(isTouched('domain.listBrief', 'certificate.add'), true);
  assert.equal(isTouched('addressList.list', 'domain.change'), true);
  assert.equal(isTouched('domain.settings', 'live.setRecording'), true);
  assert.equal(isTouched('live.getRecording', 'domain'), true);
  assert.equal(isTouched('account.getLimits', 'cache.purge'), true);
  assert.equal(isTouched('stat.traffic', 'domain.change'), false);
  assert.equal(isTouched('session.get', 'session.use'), true);
  assert.equal(isTouched('sms.getMessage', 'message.messages'), true);
  assert.equal(isTouched('sms.balance', 'message.messages'), false);
  assert.equal(isTouched('operator.listDomains', 'domain'), true);
  assert.equal(isTouched('edgeOperator.list', 'fleetOperator.revokeEdge'), true);
  assert.equal(isTouched('operator.getAccount', 'smsOperator.recharge'), true);
  assert.equal(isTouched('auditOperator.list', 'domain.change'), true);
  assert.equal(isTouched('auditOperator.list', 'edgeOperator.setState'), true);
  assert.equal(isTouched('operator.listPersons', 'member.invite'), true);
  assert.equal(isTouched('operator.listAccounts', 'member.invite'), false);
  assert.equal(isTouched('token.list', 'token.create'), true);
  assert.equal(isTouched('session.get', 'person.confirmTotp'), true);
  assert.equal(isTouched('person.get', 'session.second'), false);
});
