/** Fatal alerts, as unencrypted records. RFC 8446 §6.2, RFC 6066 §3 */

const DESCRIPTIONS = {
  unexpectedMessage: 10,
  recordOverflow: 22,
  decodeError: 50,
  protocolVersion: 70,
  internalError: 80,
  missingExtension: 109,
  unrecognizedName: 112,
} as const;

export type Alert = keyof typeof DESCRIPTIONS;

export function formatAlert(alert: Alert): Buffer {
  return Buffer.from([ALERT_RECORD, 3, 3, 0, 2, FATAL, DESCRIPTIONS[alert]]);
}

const ALERT_RECORD = 21;
const FATAL = 2;
