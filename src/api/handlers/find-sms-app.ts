/** An SMS service of the caller's account. */
import type { Executor } from '#db/schema/schema.ts';
import { findSmsApp } from '#db/tables/sms/apps.ts';
import type { SmsApp } from '#model/sms-app.ts';
import { smsAppNotFound } from '../sms/sms-refusals.ts';
import type { Call } from './handler.ts';

export async function findAppOrRefuse(
  x: Executor,
  { accountId }: Pick<Call, 'accountId'>,
  appKey: string,
): Promise<SmsApp> {
  return orRefuse(await findSmsApp(x, { accountId, appKey }), appKey);
}

export function orRefuse(app: SmsApp | undefined, appKey: string): SmsApp {
  if (app === undefined) throw smsAppNotFound(appKey);
  return app;
}
