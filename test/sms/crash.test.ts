/** Kill -9 of the process that sends messages; `npm run soak` does it twenty times. */
import { test } from 'node:test';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';
import { crashSms } from '../support/sms/sms-crash.ts';

describeOnBothEngines('the process that sends messages, killed', (newDatabase) => {
  test(
    'a process killed with parts in every state loses none, sends none twice and charges none twice',
    needs('netSmpp'),
    (t) => crashSms(t, newDatabase, 1),
  );
});
