/** The advanced configuration that sets nothing, as a customer of the interface's sample sends it: numbers for switches. */
import type { CallOf } from '#contract/operations.ts';
import { WIRE_SWITCHES, WIRE_VALIDITIES } from '#contract/settings/settings.ts';

const NAMES = [...Object.keys(WIRE_SWITCHES.fields), ...Object.keys(WIRE_VALIDITIES.fields)];

export const ADVANCED_OFF = {
  ...Object.fromEntries(NAMES.map((name) => [name, 0])),
  forbid_http_code: '',
} as Omit<CallOf<'config.setAdvanced'>, 'domain_id'>; // fromEntries forgets the names
