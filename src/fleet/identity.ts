/**
 * The identity of an edge, kept in one private file: its keys, its certificate, the authorities that it trusts, and the
 * controls that it knows. One file, so that key and certificate are always replaced together.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { MessageError, parseJson, readBoundedText, readInstant, readMembers } from '#feed/wire/messages.ts';
import { makePrivateFile, readPrivateFile, replacePrivateFile } from '#lib/private-file.ts';
import { controlName, LEAF_LIFE_MS } from './authority.ts';
import { identityFile, identityFolder } from './identity-file.ts';
import { identifyMachine } from './machine.ts';
import { type IdentityAnswer, MACHINE_FIELD, parseIdentityAnswer, readMachine } from './messages.ts';

export interface Identity {
  readonly edge: string;
  readonly fleet: string;
  readonly group: string;
  /** Serial number of the certificate, hex. */
  readonly serial: string;
  readonly notAfter: number;
  /** When it was saved, by this machine's clock, which may be wrong. */
  readonly savedAt: number;
  /** Time after that at which it is to be renewed. */
  readonly renewAfterMs: number;
  /** `https://host:port` of each control. */
  readonly controls: readonly string[];
  /** X25519 private key: opens view keys that were sealed to this edge. */
  readonly sealKey: KeyObject;
  /** See `machine.ts`. */
  readonly machine: string;
  /** Fields of every request to a control. */
  readonly fields: Readonly<Record<string, string>>;
  /** How to connect to a control, whatever its address. */
  tls(): ConnectionOptions;
}

/** Keys of an edge: PKCS #8 PEM. */
export interface IdentityKeys {
  /** P-256. */
  readonly key: string;
  /** X25519. */
  readonly seal: string;
}

/** Names a file of keys: those of a request, or the seal key beside a certificate of the operator's own authority. */
type KeyPurpose = 'enrol' | 'renew' | 'own';

/** What the file of an identity holds. */
export interface StoredIdentity extends IdentityKeys {
  readonly answer: IdentityAnswer;
  readonly machine: string;
  /** Instant by this machine's clock. */
  readonly savedAt: number;
}

/** The identity cannot be used. The message says what to do. */
export class IdentityError extends Error {}

/**
 * Reads the current identity, which a renewal replaces. Returns `undefined` if this machine was never enrolled. Throws
 * `IdentityError` if the file is damaged or readable by others, or if the data directory is a copy.
 */
export function readIdentity(dataDir: string): Identity | undefined {
  const stored = readStored(identityFile(dataDir));
  if (stored === undefined) return undefined;
  if (stored.machine !== identifyMachine(dataDir))
    throw new IdentityError(
      `the data directory ${dataDir} is a copy of that of the edge ${stored.answer.edge}; enrol this machine with "causeway edge enrol"`,
    );
  return toIdentity(stored);
}

/** Saves the identity in one step. */
export function writeIdentity(dataDir: string, stored: StoredIdentity): void {
  replacePrivateFile(identityFile(dataDir), JSON.stringify(stored));
}

export function toIdentity({ answer, key, seal, machine, savedAt }: StoredIdentity): Identity {
  const { edge, fleet, group, chain, ca, notAfter, renewAfter, controls } = answer;
  return {
    edge,
    fleet,
    group,
    serial: new X509Certificate(chain).serialNumber.toLowerCase(),
    notAfter,
    savedAt,
    renewAfterMs: renewAfter - (notAfter - LEAF_LIFE_MS),
    controls,
    sealKey: createPrivateKey(seal),
    machine,
    fields: { [MACHINE_FIELD]: machine },
    tls: () => ({ cert: chain, key, ca: [...ca], servername: controlName(fleet), minVersion: 'TLSv1.3' }),
  };
}

/** Reads the keys and the answer as they are stored; `undefined` if there is no file. Throws `IdentityError`. */
export function readStored(file: string): StoredIdentity | undefined {
  const members = readPrivateMembers(file);
  if (members === undefined) return undefined;
  return inWords(file, () => ({
    ...readKeyMembers(members),
    answer: parseIdentityAnswer(JSON.stringify(members['answer'] ?? null)),
    machine: readMachine(members['machine']),
    savedAt: readInstant('savedAt', members['savedAt']),
  }));
}

/**
 * Returns the keys for the next request, which are made and saved first: a request that is repeated because its answer
 * was lost has the same keys. `purpose` names the file. Throws `IdentityError`.
 */
export function prepareKeys(dataDir: string, purpose: KeyPurpose): IdentityKeys {
  const file = pendingFile(dataDir, purpose);
  const members = readPrivateMembers(file);
  if (members !== undefined) return inWords(file, () => readKeyMembers(members));
  const made = { key: exportKey('P-256'), seal: exportKey('X25519') };
  makePrivateFile(file, JSON.stringify(made));
  return made;
}

export function pendingFile(dataDir: string, purpose: KeyPurpose): string {
  return join(identityFolder(dataDir), `${purpose}.json`);
}

/** Returns the raw public key of an X25519 private key, base64. */
export function sealPublicKey(seal: string): string {
  const { x = '' } = createPublicKey(seal).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

function exportKey(curve: 'P-256' | 'X25519'): string {
  const { privateKey } =
    curve === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('x25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const MAX_KEY_CHARS = 1000;

function readKeyMembers(members: Readonly<Record<string, unknown>>): IdentityKeys {
  return {
    key: readBoundedText('key', members['key'], MAX_KEY_CHARS),
    seal: readBoundedText('seal', members['seal'], MAX_KEY_CHARS),
  };
}

function readPrivateMembers(file: string): Readonly<Record<string, unknown>> | undefined {
  const read = readPrivateFile(file);
  switch (read.kind) {
    case 'missing':
      return undefined;
    case 'exposed':
      throw new IdentityError(`${file} may be read by others (mode ${read.mode}): make it private with chmod 600`);
    case 'unreadable':
      throw new IdentityError(`${file} cannot be read: ${read.reason}`);
    case 'text':
      return inWords(file, () => readMembers('file', parseJson(read.text)));
  }
}

function inWords<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    throw new IdentityError(`${file} is damaged (${error.message}); enrol this machine with "causeway edge enrol"`, {
      cause: error,
    });
  }
}
