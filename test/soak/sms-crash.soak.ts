/** Twenty times kill -9 of the process that sends messages, on both engines. */
import { test } from 'node:test';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';
import { crashSms } from '../support/sms/sms-crash.ts';

describeOnBothEngines('the process that sends messages, killed twenty times', (newDatabase) => {
  test(
    'a process killed twenty times with parts in every state loses none, sends none twice and charges none twice',
    needs('netSmpp'),
    (t) => crashSms(t, newDatabase, 20),
  );
});
