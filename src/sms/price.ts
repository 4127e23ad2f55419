/** The price of a part. Pure. */
import type { SmsPrice } from '#db/tables/sms/balance.ts';
import type { SmsKind } from '#model/sms-app.ts';

/** Returns the price of the longest matching prefix; `undefined` if there is none. `destination`: E.164 with `+`. */
export function findPrice(prices: readonly SmsPrice[], kind: SmsKind, destination: string): SmsPrice | undefined {
  let best: SmsPrice | undefined;
  for (const price of prices) {
    const fits = price.kind === kind && destination.startsWith(price.prefix);
    if (fits && price.prefix.length >= (best?.prefix.length ?? 0)) best = price;
  }
  return best;
}
