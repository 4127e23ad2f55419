/** Decodes the bytes of field values beyond ASCII, whose meaning RFC 9110 §5.5 leaves open. */
import { isUtf8 } from 'node:buffer';

/**
 * Decodes `value`, one character per byte, as UTF-8, which browsers and programs send; as Latin-1 if it is not valid
 * UTF-8.
 */
export function fieldText(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

const BEYOND_ASCII = /[\x80-\xff]/;
