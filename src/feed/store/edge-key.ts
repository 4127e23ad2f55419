/**
 * The edge's own key, in a file next to its settings, in which certificates are sealed with it: a copy of the settings
 * alone reveals no private key. Without the right key, they are requested again.
 */
import { randomBytes } from 'node:crypto';
import { AEAD_KEY_BYTES, closeBytes, openBytes } from '#lib/aead.ts';
import { makePrivateFile, readPrivateFile, replacePrivateFile } from '#lib/private-file.ts';

/** The key, for the process that writes the settings. The file is created when it is first needed. */
export interface EdgeKey extends CertificateOpener {
  /** Seals JSON. */
  close(certificate: string, body: string): string;
  /** Whether the file no longer has the key that was used last; from then on its new key is used. */
  hasChanged(): boolean;
}

export interface CertificateOpener {
  /** Opens a sealed body; `undefined` if it is sealed with another key, for another certificate, or not at all. */
  open(certificate: string, stored: string): string | undefined;
}

export function edgeKeyPath(storeFile: string): string {
  return `${storeFile}.key`;
}

export function createEdgeKey(file: string): EdgeKey {
  let key: Buffer | undefined;
  const current = () => {
    key ??= readKey(file) ?? makeKey(file);
    return key;
  };
  return {
    close: (certificate, body) =>
      JSON.stringify(closeBytes(current(), certificate, Buffer.from(body)).toString('base64')),
    open: (certificate, stored) => openWith(key ?? readKey(file), certificate, stored),
    hasChanged: () => {
      if (key === undefined || readKey(file)?.equals(key) === true) return false;
      key = undefined;
      return true;
    },
  };
}

/** Opens certificates in a worker; follows changes of the file. */
export function createCertificateOpener(file: string): CertificateOpener {
  let key: Buffer | undefined;
  return {
    open: (certificate, stored) => {
      const opened = openWith(key, certificate, stored);
      if (opened !== undefined) return opened;
      key = readKey(file);
      return openWith(key, certificate, stored);
    },
  };
}

/** Reads the key; `undefined` if the file is missing, damaged or readable by others. */
function readKey(file: string): Buffer | undefined {
  const read = readPrivateFile(file);
  const text = read.kind === 'text' ? read.text.trimEnd() : '';
  return KEY_TEXT.test(text) ? Buffer.from(text, 'hex') : undefined;
}

const KEY_TEXT = new RegExp(`^[0-9a-f]{${2 * AEAD_KEY_BYTES}}$`);

function makeKey(file: string): Buffer {
  const text = `${randomBytes(AEAD_KEY_BYTES).toString('hex')}\n`;
  if (readPrivateFile(file).kind === 'missing') makePrivateFile(file, text);
  else replacePrivateFile(file, text);
  const made = readKey(file);
  if (made === undefined) throw new Error(`the key ${file} cannot be read`);
  return made;
}

function openWith(key: Buffer | undefined, certificate: string, stored: string): string | undefined {
  if (key === undefined) return undefined;
  try {
    const sealed: unknown = JSON.parse(stored);
    if (typeof sealed !== 'string') return undefined;
    return openBytes(key, certificate, Buffer.from(sealed, 'base64')).toString('utf8');
  } catch {
    return undefined; // see `open`
  }
}
