/** An authenticator in software: passkeys with ES256, without attestation, as platforms make them. WebAuthn Level 3 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What the browser's interface returns, as JSON. */
type Answer = Record<string, unknown> & { readonly id: string };

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
}

export interface Authenticator {
  /** `navigator.credentials.create()` */
  create(options: unknown): Answer;
  /** `navigator.credentials.get()` with the passkey that was made last. */
  get(options: unknown): Answer;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** `origin`: of the page. `isVerifying` absent: it asks its user for a PIN or a finger. */
export function createAuthenticator(origin: string, isVerifying = true): Authenticator {
  let made: { readonly id: Buffer; readonly key: KeyObject } | undefined;
  let counter = 0;
  const flags = USER_PRESENT | (isVerifying ? USER_VERIFIED : 0);
  const clientData = (type: string, challenge: string) => Buffer.from(JSON.stringify({ type, challenge, origin }));
  const head = (rpId: string, more: number) => {
    const count = Buffer.alloc(4);
    counter += 1;
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags | more]), count]);
  };
  const answer = (id: Buffer, response: Record<string, string>): Answer => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    response,
    clientExtensionResults: {},
  });
  return {
    create: (given) => {
      const { challenge, rp } = given as Options;
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const id = randomBytes(16);
      made = { id, key: privateKey };
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const idLength = Buffer.from([0, id.length]);
      const data = Buffer.concat([head(rp?.id ?? '', HAS_CREDENTIAL), Buffer.alloc(16), idLength, id, coseKey(x, y)]);
      return answer(id, {
        clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestation(data).toString('base64url'),
      });
    },
    get: (given) => {
      const { challenge, rpId = '' } = given as Options;
      if (made === undefined) throw new Error('there is no passkey');
      const client = clientData('webauthn.get', challenge);
      const data = head(rpId, 0);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), made.key);
      return answer(made.id, {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      });
    },
  };
}

function sha256(bytes: string | Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** CBOR map { 1: 2, 3: -7, -1: 1, -2: x, -3: y }. RFC 9053 §7.1.1 */
function coseKey(x: string, y: string): Buffer {
  const coordinate = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')]);
  const start = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]);
  return Buffer.concat([start, coordinate(x), Buffer.from([0x22]), coordinate(y)]);
}

/** CBOR map { fmt: "none", attStmt: {}, authData }. */
function attestation(data: Buffer): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
  const bytes = Buffer.concat([Buffer.from([0x58, data.length]), data]);
  const members = [text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0]), text('authData'), bytes];
  return Buffer.concat([Buffer.from([0xa3]), ...members]);
}
