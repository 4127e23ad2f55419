/** Passkeys by the browser's own interface, whose values reach the service as JSON. docs/decisions/0694 */

type Json = Readonly<Record<string, unknown>>;

/** Browsers of 2025 and later have it, on pages that came over HTTPS or from this machine. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
}

/** Asks for a passkey that is there. Throws `DOMException`. */
export async function askForPasskey(options: Json): Promise<Json> {
  // `as`: the service makes them for this function.
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return toJson(await navigator.credentials.get({ publicKey }));
}

/** Makes a passkey. Throws `DOMException`. */
export async function makePasskey(options: Json): Promise<Json> {
  // `as`: see above
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return toJson(await navigator.credentials.create({ publicKey }));
}

function toJson(credential: Credential | null): Json {
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('no passkey', 'NotAllowedError');
  return { ...credential.toJSON() };
}
