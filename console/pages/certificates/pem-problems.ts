/** What can be said against PEM texts before they are sent. Pure. */
import { leafOf, readPem } from './pem.ts';

export type PemProblem = 'none' | 'unreadable' | 'noNames' | 'ended' | 'encrypted' | 'noKey' | 'keys';

/** The first problem of each text; an empty text has none yet. */
export function pemProblems(
  certificate: string,
  key: string,
  now: number,
): { readonly certificate: PemProblem | undefined; readonly key: PemProblem | undefined } {
  return {
    certificate: certificate.trim() === '' ? undefined : certificateProblem(certificate, now),
    key: key.trim() === '' ? undefined : keyProblem(key),
  };
}

function certificateProblem(text: string, now: number): PemProblem | undefined {
  const content = readPem(text);
  const leaf = leafOf(content);
  if (content.unreadable > 0) return 'unreadable';
  if (leaf === undefined) return 'none';
  if (leaf.names.length === 0) return 'noNames';
  return leaf.endsAt < now ? 'ended' : undefined;
}

function keyProblem(text: string): PemProblem | undefined {
  const { keys, isKeyEncrypted } = readPem(text);
  if (keys === 0) return 'noKey';
  if (keys > 1) return 'keys';
  return isKeyEncrypted ? 'encrypted' : undefined;
}
