/** Signs requests with the account's key (ES256), each for one URL and one nonce. RFC 8555 §6.2, RFC 7515 */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';

/** Generates a P-256 key as PKCS #8 PEM. */
export function makeKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Binds an ACME account to the operator's account at the authority. RFC 8555 §7.3.4 */
export interface ExternalBinding {
  readonly keyId: string;
  /** Base64 or base64url. */
  readonly macKey: string;
}

export interface Signer {
  /**
   * Signs a request. With an empty `account` the key itself is sent; without `payload` it is a POST-as-GET. RFC 8555
   * §6.3
   */
  sign(to: { readonly url: string; readonly nonce: string; readonly account: string }, payload?: object): string;
  /** Returns the signer's public key, signed with the binding's key (HS256), for `url` only. RFC 8555 §7.3.4 */
  bind(binding: ExternalBinding, url: string): object;
  /** Returns the key authorization, which proves that the server belongs to the account. RFC 8555 §8.1 */
  keyAuthorization(token: string): string;
}

export function createSigner(pem: string): Signer {
  const key = createPrivateKey(pem);
  const jwk = toJwk(key);
  // In lexicographic order, without blanks. RFC 7638 §3
  const thumbprint = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');
  return {
    sign: ({ url, nonce, account }, payload) => {
      const head = encode({ alg: 'ES256', nonce, url, ...(account === '' ? { jwk } : { kid: account }) });
      const body = payload === undefined ? '' : encode(payload);
      const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' });
      return JSON.stringify({ protected: head, payload: body, signature: signature.toString('base64url') });
    },
    bind: ({ keyId, macKey }, url) => {
      const head = encode({ alg: 'HS256', kid: keyId, url });
      const body = encode(jwk);
      const signature = createHmac('sha256', Buffer.from(macKey, 'base64'))
        .update(`${head}.${body}`)
        .digest('base64url');
      return { protected: head, payload: body, signature };
    },
    keyAuthorization: (token) => `${token}.${thumbprint}`,
  };
}

function toJwk(key: KeyObject) {
  const { crv, x, y } = createPublicKey(key).export({ format: 'jwk' });
  return { crv, kty: 'EC', x, y };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
