/** What browsers let the console do: run its own files, and nothing else. docs/decisions/0653 */

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "media-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "frame-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/** Features of browsers that the console does not use, so that no library can either. */
const UNUSED_FEATURES = ['camera', 'display-capture', 'geolocation', 'microphone', 'midi', 'payment', 'serial', 'usb'];

/** Fields of the console's answers that go before those of every answer. */
export const CONSOLE_FIELDS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY.join('; '),
  'permissions-policy': UNUSED_FEATURES.map((feature) => `${feature}=()`).join(', '),
};
