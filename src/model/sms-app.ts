/** An SMS service of a customer, known by its `app_key`, and what its customer chose for it. */
import { defaultsOf, type SettingsOf, type SettingTable } from './settings.ts';

export interface SmsApp {
  readonly id: number;
  readonly accountId: number;
  readonly appKey: string;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly createdAt: number;
  readonly settings: SmsAppSettings;
}

/** Plain settings, as in `model/settings.ts`. */
export const SMS_APP_SETTINGS = {
  /** Put at the end of every advertising text, and charged with it; empty: nothing. */
  suffix: { kind: 'text', default: '', max: 60 },
  /** `85261234567` is read as `+85261234567`. */
  bareInternational: { kind: 'switch', default: false },
  /** Whether a notice (`smsType` 2) whose response was lost is sent again: twice rather than never. */
  resendUncertain: { kind: 'switch', default: false },
  /** Validity, counted from when a message may be sent. */
  validityHours: { kind: 'number', default: 72, min: 1, max: 168 },
} as const satisfies SettingTable;

export interface SmsAppSettings extends SettingsOf<typeof SMS_APP_SETTINGS> {
  /** Hours in which advertising is sent; `undefined`: at any time. docs/decisions/0213 */
  readonly marketingHours: MarketingHours | undefined;
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
  ...defaultsOf(SMS_APP_SETTINGS),
};

export type SmsKind = 'ordinary' | 'advertising';
