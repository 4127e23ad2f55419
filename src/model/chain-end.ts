/** Where a chain ends that a customer has, and whether clients are likely to go on from there by themselves. */
import { X509Certificate } from 'node:crypto';
import { CERTIFICATE_LABELS } from './certificate.ts';
import { parsePem } from './pem.ts';

/**
 * Returns the name of the last certificate's issuer if it is neither in `text` nor among `authorities` (PEM); usually
 * an intermediate certificate was forgotten. `undefined`: the chain is complete. `text`: PEM that the service has
 * accepted.
 */
export function findMissingIssuer(text: string, authorities: readonly string[]): string | undefined {
  const pem = parsePem(text);
  if (pem.kind === 'invalid') return undefined;
  const chain = pem.blocks.filter(({ label }) => CERTIFICATE_LABELS.includes(label)).map(({ bytes }) => open(bytes));
  const ends = chain.filter((below) => !chain.some((above) => hasIssued(above, below)));
  const known = ends.length === 0 ? [] : authorities.map(open);
  const end = ends.find((below) => !known.some((above) => hasIssued(above, below)));
  return end && (end.issuer ?? '').split('\n').join(', ');
}

function open(certificate: string | Buffer): X509Certificate {
  return new X509Certificate(certificate);
}

/** Also of one that signed itself. */
function hasIssued(above: X509Certificate, below: X509Certificate): boolean {
  try {
    return below.checkIssued(above) && below.verify(above.publicKey);
  } catch {
    return false; // its key is of an unknown type
  }
}
