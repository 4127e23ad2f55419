/** The alphabets that phones' texts come in, whatever protocol brings them. Pure. docs/decisions/0421 */

/** `undefined`: the octets are not well-formed in it, or hold control characters that no text has. */
export function decodeStrictly(label: string, octets: Buffer): string | undefined {
  try {
    return textOrNothing(new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(octets));
  } catch {
    // Not well-formed.
    return undefined;
  }
}

/** `undefined`: it has other octets than ASCII's printable ones. */
export function decodeAscii(octets: Buffer): string | undefined {
  return octets.every((octet) => octet < 0x80) ? textOrNothing(octets.toString('latin1')) : undefined;
}

export function decodeLatin1(octets: Buffer): string | undefined {
  return textOrNothing(octets.toString('latin1'));
}

/** Decodes UTF-16. An odd last octet is dropped. An unpaired surrogate, which some senders leave, becomes U+FFFD. */
export function decodeUtf16(octets: Buffer): string {
  return Buffer.from(octets.subarray(0, octets.length & ~1))
    .swap16()
    .toString('utf16le')
    .toWellFormed();
}

/** Some senders end their texts with NULs. */
export function withoutFinalZeros(octets: Buffer): Buffer {
  let end = octets.length;
  while (end > 0 && octets[end - 1] === 0) end -= 1;
  return octets.subarray(0, end);
}

/**
 * Every text that these octets may be, whatever alphabet their sender named. For looking for words only: most of them mean
 * nothing.
 */
export function possibleTexts(octets: Buffer): readonly string[] {
  const plain = withoutFinalZeros(octets);
  const littleEndian = Buffer.from(octets.subarray(0, octets.length & ~1)).toString('utf16le');
  const strict = ['utf-8', 'gb18030'].map((label) => decodeStrictly(label, plain));
  return [decodeUtf16(octets), littleEndian, decodeAscii(plain), ...strict].filter((text) => text !== undefined);
}

function textOrNothing(text: string): string | undefined {
  return /[^\P{Cc}\t\n\r]/u.test(text) ? undefined : text;
}
