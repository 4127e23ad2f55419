/** The currency of amounts, which are stored as integers of its smallest unit. */

export interface Currency {
  /** ISO 4217; empty: amounts count parts, or whatever the operator means. */
  readonly code: string;
  /** How many of the smallest unit make one of the currency. */
  readonly units: number;
}

export const NO_CURRENCY: Currency = { code: '', units: 1 };
