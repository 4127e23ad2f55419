/** Decoders for the alphabets of texts from phones. Pure. docs/decisions/0421 */

/** Returns `undefined` if the octets are not well-formed or contain control characters that no text has. */
export function decodeStrictly(label: string, octets: Buffer): string | undefined {
  try {
    return textOrNothing(new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(octets));
  } catch {
    // Not well-formed.
    return undefined;
  }
}

/** Returns `undefined` unless all octets are printable ASCII. */
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

/** Removes the NULs with which some senders end their texts. */
export function withoutFinalZeros(octets: Buffer): Buffer {
  let end = octets.length;
  while (end > 0 && octets[end - 1] === 0) end -= 1;
  return octets.subarray(0, end);
}

/**
 * Returns the octets decoded in each alphabet that they may be in, whatever alphabet their sender named. Only for
 * finding words: most of these texts are meaningless.
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
