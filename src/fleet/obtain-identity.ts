/** Obtains the identity of this machine from a control: by a token at first, then by renewal. docs/decisions/0584 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { rmSync } from 'node:fs';
import { shuffle } from '#feed/client/control-link.ts';
import { FLEET_VERSIONS, formatVersions } from '#feed/wire/versions.ts';
import { makeCsr } from '#model/csr.ts';
import { pinOf } from './authority.ts';
import { callFleet, verifyControl } from './fleet-request.ts';
import {
  type Identity,
  IdentityError,
  type IdentityKeys,
  pendingFile,
  prepareKeys,
  readStored,
  sealPublicKey,
  toIdentity,
  writeIdentity,
} from './identity.ts';
import { identityFile } from './identity-file.ts';
import { identifyMachine } from './machine.ts';
import { ENROL_PATH, type IdentityAnswer, MAX_KNOWN_CONTROLS, parseIdentityAnswer, RENEW_PATH } from './messages.ts';
import { FleetRefusal } from './refusal.ts';
import { parseToken } from './token.ts';

export interface EnrolmentOptions {
  readonly dataDir: string;
  /** `https://host:port` of 1 to 16 controls. */
  readonly controls: readonly string[];
  readonly token: string;
  /** The wanted id; absent: that of the token, or one that control chooses. */
  readonly edge?: string | undefined;
  readonly build: string;
  readonly now: number;
}

/**
 * Enrols this machine and saves its identity. Throws `IdentityError` for a text that is not a token, `FleetRefusal` if
 * control refuses, another error if no control can be reached. May be repeated after a failure.
 */
export async function enrolMachine(options: EnrolmentOptions): Promise<Identity> {
  const { dataDir, controls, token, edge, build, now } = options;
  const parsed = parseToken(token);
  if (parsed === undefined)
    throw new IdentityError('the token is not one of "causeway edge token create": expected cwf1.… with two parts');
  const keys = preparedKeys(dataDir, 'enrol');
  const machine = identifyMachine(dataDir);
  const feed = formatVersions(FLEET_VERSIONS);
  const body = { token, csr: csrOf(keys), seal: sealPublicKey(keys.seal), edge, machine, build, feed };
  const text = await callFirst(controls, (control) =>
    callFleet({
      control,
      path: ENROL_PATH,
      body,
      tls: { rejectUnauthorized: false, minVersion: 'TLSv1.3' }, // verified below
      verify: (socket) => verifyControl(socket, { trusts: (authority) => pinOf(authority) === parsed.pin, now }),
    }),
  );
  const answer = withControls(parseAnswer(text, keys), controls);
  return save(dataDir, 'enrol', { ...keys, machine, answer, savedAt: now });
}

/** Renews the identity and returns the new one. Throws like `enrolMachine`. May be repeated after a failure. */
export async function renewIdentity(dataDir: string, now: number): Promise<Identity> {
  const stored = readStored(identityFile(dataDir));
  if (stored === undefined) throw new IdentityError(`there is no identity in ${dataDir}`);
  const { controls, tls, fields, serial, machine } = toIdentity(stored);
  const { key } = preparedKeys(dataDir, 'renew');
  const keys = { key, seal: stored.seal };
  const authorities = stored.answer.ca.map((pem) => new X509Certificate(pem).fingerprint256);
  const text = await callFirst(controls, (control) =>
    callFleet({
      control,
      path: RENEW_PATH,
      body: { csr: csrOf(keys), serial, machine },
      fields,
      tls: { ...tls(), rejectUnauthorized: false }, // verified below
      verify: (socket) =>
        verifyControl(socket, { trusts: ({ fingerprint256 }) => authorities.includes(fingerprint256), now }),
    }),
  );
  const answer = withControls(parseAnswer(text, keys), controls);
  return save(dataDir, 'renew', { ...keys, machine, answer, savedAt: now });
}

/** Keys in use belong to a request whose answer was saved, so they are not used again. */
function preparedKeys(dataDir: string, purpose: 'enrol' | 'renew'): IdentityKeys {
  const keys = prepareKeys(dataDir, purpose);
  if (readStored(identityFile(dataDir))?.key !== keys.key) return keys;
  rmSync(pendingFile(dataDir, purpose));
  return prepareKeys(dataDir, purpose);
}

function save(dataDir: string, purpose: 'enrol' | 'renew', stored: Parameters<typeof writeIdentity>[1]): Identity {
  writeIdentity(dataDir, stored);
  rmSync(pendingFile(dataDir, purpose), { force: true });
  return toIdentity(stored);
}

function csrOf({ key }: IdentityKeys): string {
  return makeCsr('', createPrivateKey(key)).toString('base64');
}

/** Throws if the certificate is not for our key. */
function parseAnswer(text: string, { key }: IdentityKeys): IdentityAnswer {
  const answer = parseIdentityAnswer(text);
  if (!new X509Certificate(answer.chain).checkPrivateKey(createPrivateKey(key)))
    throw new Error('control answered with a certificate for another key');
  return answer;
}

/** Returns the addresses that control names, and those that are known to work. */
function withControls(answer: IdentityAnswer, known: readonly string[]): IdentityAnswer {
  return { ...answer, controls: [...new Set([...answer.controls, ...known])].slice(0, MAX_KNOWN_CONTROLS) };
}

/** Asks one control after the other, in random order, until one answers. A refusal is an answer. Throws all failures as one. */
async function callFirst(controls: readonly string[], call: (control: string) => Promise<string>): Promise<string> {
  const failures: unknown[] = [];
  for (const control of shuffle(controls, Math.random)) {
    try {
      return await call(control);
    } catch (error) {
      failures.push(error);
      if (error instanceof FleetRefusal && error.status < 500) throw error;
    }
  }
  if (failures.length <= 1) throw failures[0] ?? new IdentityError('no control is known');
  throw new Error(failures.map((error) => (error instanceof Error ? error.message : String(error))).join('; '));
}
