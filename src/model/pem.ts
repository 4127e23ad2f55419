/** Extracts PEM blocks from a pasted text, with any text around them and any line ends. RFC 7468 */

export interface PemBlock {
  /** What stands after `BEGIN`. */
  readonly label: string;
  /** Whether the block itself says that it is encrypted under a passphrase. RFC 1421 §4.6.1.1 */
  readonly isEncrypted: boolean;
  readonly bytes: Buffer;
}

export type PemText =
  | { readonly kind: 'blocks'; readonly blocks: readonly PemBlock[] }
  /** `reason` completes the sentence "the text …". */
  | { readonly kind: 'invalid'; readonly reason: string };

/** What is said of a text without a block, such as a file of DER. */
export const NOT_PEM = 'is not PEM: there is no -----BEGIN line in it';

const BEGIN = /-----BEGIN ([A-Z0-9 ]{1,40})-----/g;

export function parsePem(text: string): PemText {
  const blocks: PemBlock[] = [];
  for (const begin of text.matchAll(BEGIN)) {
    const [line, label = ''] = begin;
    const end = text.indexOf(`-----END ${label}-----`, begin.index);
    const next = text.indexOf('-----BEGIN ', begin.index + line.length);
    if (end === -1 || (next !== -1 && next < end)) {
      return { kind: 'invalid', reason: `has a block without its END line: ${label}` };
    }
    const { headers, content } = splitHeaders(text.slice(begin.index + line.length, end));
    const isEncrypted = /^Proc-Type:.*ENCRYPTED/m.test(headers);
    if (!BASE64.test(content)) return { kind: 'invalid', reason: `has a block that is not Base64: ${label}` };
    blocks.push({ label, isEncrypted, bytes: Buffer.from(content, 'base64') });
  }
  return { kind: 'blocks', blocks };
}

/** Canonical: lines of 64 characters, a line feed after each. */
export function formatPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** `content` without its white space. */
function splitHeaders(inside: string): { readonly headers: string; readonly content: string } {
  const headers = /^\s*(?:[A-Za-z-]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+/.exec(inside)?.[0] ?? '';
  return { headers, content: inside.slice(headers.length).replace(/\s+/g, '') };
}
