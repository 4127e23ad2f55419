/**
 * Passkeys: options for the browser, and its answers, checked by @simplewebauthn/server. A challenge is signed and expires;
 * nothing is stored until it has been answered. docs/decisions/0664
 */
import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { Passkey } from '#db/tables/people/passkeys.ts';
import type { Person } from '#model/person.ts';

/** Time to answer a challenge. */
const CHALLENGE_MS = 5 * 60_000;
const NONCE_BYTES = 16;
const SERVICE_NAME = 'Causeway';
/** ES256, EdDSA, RS256: between them, every authenticator has one. */
const ALGORITHMS = [-7, -8, -257];

export interface PasskeyContext {
  readonly ring: Keyring;
  /** Scheme, host and port of the console; its host is the relying party. */
  readonly origin: string;
  readonly now: number;
}

/** A challenge that was answered: to be counted once. */
interface AnsweredChallenge {
  readonly hash: string;
  readonly expiresAt: number;
}

type Purpose = 'sign in' | PasskeyOwner['purpose'];

/** The owner of a new passkey: a person, or somebody who accepts an invitation. */
export interface PasskeyOwner {
  /** What the challenge is good for. */
  readonly purpose: `add ${number}` | `join ${number}`;
  readonly email: string;
  readonly name: string;
}

export function passkeyOwner({ id, email, name }: Pick<Person, 'id' | 'email' | 'name'>): PasskeyOwner {
  return { purpose: `add ${id}`, email, name };
}

/** Loaded with the first passkey: its 25 packages cost a start more than the rest of this room. */
const library = () => import('@simplewebauthn/server');

export async function passkeyRequest(context: PasskeyContext) {
  const { generateAuthenticationOptions } = await library();
  return await generateAuthenticationOptions({
    rpID: hostOf(context),
    challenge: makeChallenge(context, 'sign in'),
    userVerification: 'required',
    timeout: CHALLENGE_MS,
  });
}

export async function passkeyCreation(
  context: PasskeyContext,
  { purpose, email, name }: PasskeyOwner,
  present: readonly Passkey[],
) {
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: SERVICE_NAME,
    rpID: hostOf(context),
    userName: email,
    userDisplayName: name,
    userID: new Uint8Array(Buffer.from(userIdOf(purpose))),
    challenge: makeChallenge(context, purpose),
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: present.map(({ credential }) => ({ id: credential })),
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: CHALLENGE_MS,
  });
}

/** What authenticators tell the passkeys of one site apart by: a newer one for the same id replaces the former. */
function userIdOf(purpose: PasskeyOwner['purpose']): string {
  return `causeway ${purpose.replace('add', 'person').replace('join', 'invitation')}`;
}

interface CheckedUse {
  readonly counter: number;
  readonly challenge: AnsweredChallenge;
}

/** Returns `undefined` if the answer is not of this passkey, or of no challenge of ours. */
export async function checkPasskeyUse(
  context: PasskeyContext,
  response: AuthenticationResponseJSON,
  passkey: Passkey,
): Promise<CheckedUse | undefined> {
  const { verifyAuthenticationResponse } = await library();
  const challenges = expectChallenge(context, 'sign in');
  const verified = await orUndefined(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenges.isOurs,
      expectedOrigin: context.origin,
      expectedRPID: hostOf(context),
      credential: {
        id: passkey.credential,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.counter,
      },
      requireUserVerification: true,
    }),
  );
  const challenge = challenges.answered();
  if (verified?.verified !== true || challenge === undefined) return undefined;
  return { counter: verified.authenticationInfo.newCounter, challenge };
}

export interface CheckedPasskey {
  readonly credential: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly challenge: AnsweredChallenge;
}

/** Returns `undefined` if the answer is no new passkey for this owner, or of no challenge of ours. */
export async function checkNewPasskey(
  context: PasskeyContext,
  response: RegistrationResponseJSON,
  { purpose }: PasskeyOwner,
): Promise<CheckedPasskey | undefined> {
  const { verifyRegistrationResponse } = await library();
  const challenges = expectChallenge(context, purpose);
  const verified = await orUndefined(() =>
    verifyRegistrationResponse({
      response,
      expectedChallenge: challenges.isOurs,
      expectedOrigin: context.origin,
      expectedRPID: hostOf(context),
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  );
  const challenge = challenges.answered();
  if (verified?.registrationInfo === undefined || challenge === undefined) return undefined;
  const { id: credential, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  return { credential, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports, challenge };
}

/** The library throws for every answer that does not fit. */
async function orUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined; // whatever is wrong with it, it proves nothing
  }
}

function hostOf({ origin }: PasskeyContext): string {
  return new URL(origin).hostname;
}

/** Expiry, random bytes and their signature. */
function makeChallenge({ ring, now }: PasskeyContext, purpose: Purpose): Uint8Array<ArrayBuffer> {
  const expiry = Buffer.alloc(8);
  expiry.writeBigUInt64BE(BigInt(now + CHALLENGE_MS));
  const body = Buffer.concat([expiry, randomBytes(NONCE_BYTES), Buffer.from(ring.newest.id, 'hex')]);
  return new Uint8Array(Buffer.concat([body, sign(ring.newest.key, purpose, body)]));
}

function expectChallenge({ ring, now }: PasskeyContext, purpose: Purpose) {
  let answered: AnsweredChallenge | undefined;
  return {
    isOurs: (challenge: string): boolean => {
      const bytes = Buffer.from(challenge, 'base64url');
      const body = bytes.subarray(0, BODY_BYTES);
      if (body.length < BODY_BYTES) return false;
      const key = ring.find(body.subarray(BODY_BYTES - KEY_ID_BYTES).toString('hex'))?.key;
      const expected = key && sign(key, purpose, body);
      const given = bytes.subarray(BODY_BYTES);
      if (expected === undefined || expected.length !== given.length || !timingSafeEqual(expected, given)) return false;
      const expiresAt = Number(body.readBigUInt64BE());
      if (now >= expiresAt) return false;
      answered = { hash: hash('sha256', bytes), expiresAt };
      return true;
    },
    answered: () => answered,
  };
}

const KEY_ID_BYTES = 8;
const BODY_BYTES = 8 + NONCE_BYTES + KEY_ID_BYTES;

function sign(ringKey: Buffer, purpose: Purpose, body: Buffer): Buffer {
  const key = Buffer.from(hkdfSync('sha256', ringKey, '', 'passkey challenges', 32));
  return createHmac('sha256', key).update(purpose).update('\0').update(body).digest();
}
