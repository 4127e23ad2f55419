/** What has to be read again after a change or a hint. Pure. */

const FLEET = ['edgeOperator', 'fleetOperator', 'groupOperator', 'audit'];

/** Groups of operations, or single ones, whose answers a change affects, by the group of the change, or the kind of the hint. */
const TOUCHED: Readonly<Record<string, readonly string[]>> = {
  domain: ['domain', 'config', 'addressList', 'live.getRecording', 'audit', 'operator'],
  config: ['domain', 'config', 'addressList', 'audit'],
  live: ['live', 'domain', 'config', 'audit'],
  certificate: ['certificate', 'domain', 'audit'],
  task: ['cache', 'account', 'audit'],
  cache: ['cache', 'account', 'audit'],
  edge: ['edgeOperator', 'fleetOperator', 'groupOperator', 'domain'],
  connector: ['smsOperator', 'audit'],
  message: ['sms.find', 'sms.getMessage', 'sms.listReplies', 'sms.listDeliveries'],
  account: ['account', 'sms', 'addressList', 'member', 'operator', 'audit'],
  session: ['session', 'token', 'audit'],
  person: ['person', 'session', 'operator.listPersons', 'audit'],
  member: ['member', 'session', 'operator.listPersons', 'audit'],
  event: ['event', 'eventOperator'],
  operator: ['operator', 'audit'],
  edgeOperator: FLEET,
  fleetOperator: FLEET,
  groupOperator: FLEET,
  smsOperator: ['smsOperator', 'operator', 'audit'],
  liveOperator: ['liveOperator', 'live', 'audit'],
};

/** Whether what `read` answered may be different after `changed`. */
export function isTouched(read: string, changed: string): boolean {
  const [group = ''] = changed.split('.');
  const touched = TOUCHED[group] ?? [group, 'audit'];
  const [groupOfRead = ''] = read.split('.');
  // What an account's audit has, that of operators has too.
  return touched.includes(groupOfRead === 'auditOperator' ? 'audit' : groupOfRead) || touched.includes(read);
}
