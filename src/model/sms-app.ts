/** An SMS service of a customer, known by its `app_key`, and what its customer chose for it. */

export interface SmsApp {
  readonly id: number;
  readonly accountId: number;
  readonly appKey: string;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly createdAt: number;
  readonly settings: SmsAppSettings;
}

export interface SmsAppSettings {
  /** When advertising goes out; `undefined`: at any time. docs/decisions/0213 */
  readonly marketingHours: MarketingHours | undefined;
  /** Put at the end of every advertising text, and charged with it; empty: nothing. */
  readonly suffix: string;
  /** `85261234567` is read as `+85261234567`. */
  readonly bareInternational: boolean;
  /** A notice (`smsType` 2) whose answer was lost goes out again: twice rather than never. */
  readonly resendUncertain: boolean;
  /** Validity, counted from when a message may be sent. */
  readonly validityHours: number;
}

/** Minutes of the day between which advertising may be sent, past midnight if the first is later; the two differ. */
export interface MarketingHours {
  /** Minutes since midnight. */
  readonly from: number;
  readonly to: number;
  /** IANA name. */
  readonly timeZone: string;
}

export const DEFAULT_SMS_APP_SETTINGS: SmsAppSettings = {
  marketingHours: { from: 8 * 60, to: 22 * 60, timeZone: 'Asia/Shanghai' },
  suffix: '',
  bareInternational: false,
  resendUncertain: false,
  validityHours: 72,
};

export type SmsKind = 'ordinary' | 'advertising';
