/** Amounts of money as texts. */
import type { Locale } from '#contract/schema/locale.ts';

/** The currency as answers name it. */
export interface Money {
  /** ISO 4217; empty: amounts have no currency. */
  readonly currency: string;
  /** Smallest units in one of it. */
  readonly currency_units: number;
}

/** `amount` in the smallest unit. */
export function formatAmount(amount: number, { currency, currency_units: units }: Money, locale: Locale): string {
  if (currency === '') return new Intl.NumberFormat(locale).format(amount);
  const digits = Math.round(Math.log10(units));
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: Math.min(2, digits),
    maximumFractionDigits: digits,
  }).format(amount / units);
}
