/** Refuses addresses of webhooks that nothing is posted to. */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { Field } from '#contract/schema/fields.ts';
import { quote } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import type { Call } from './handler.ts';

/** What a name stands for is known only when something is posted. `url`: empty for none. */
export function refusePostedTo({ sms }: Pick<Call, 'sms'>, url: string, { expects: expected }: Field): void {
  const address = url === '' ? undefined : sms.refusedAddress(url);
  if (address === undefined) return;
  throw new ServiceError('entryInvalid', { field: 'url', expected, entry: quote(address), reason: NOT_POSTED_TO });
}

const NOT_POSTED_TO: Localized = {
  'zh-CN': '是本服务不会投递的地址，除非运营方允许（sms-webhook-allow）',
  en: 'is an address that this service posts nothing to unless its operator allows it (sms-webhook-allow)',
};
