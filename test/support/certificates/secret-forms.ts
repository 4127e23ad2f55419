/** How a private key would look where it leaked: what a search for it looks for. */
import { createPrivateKey } from 'node:crypto';

/** Lines of the PEM, and the secret part itself in Base64, hex and bytes (as latin1). */
export function formsOf(pem: string): readonly string[] {
  const key = createPrivateKey(pem);
  const der = key.export({ type: 'pkcs8', format: 'der' });
  const { d = '' } = key.export({ format: 'jwk' });
  const secret = Buffer.from(d, 'base64url');
  const lines = [pem, key.export({ type: 'pkcs8', format: 'pem' }).toString()].flatMap((text) =>
    text.split('\n').filter((line) => line.length > 30 && !line.startsWith('-----')),
  );
  return [
    ...new Set(lines),
    ...[der, secret].flatMap((bytes) =>
      (['base64', 'base64url', 'hex', 'latin1'] as const).map((as) => bytes.toString(as)),
    ),
  ];
}
