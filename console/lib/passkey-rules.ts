/** Where passkeys work, and what their failures mean. Pure. */

/** Passkeys belong to the console's address, as the service knows it. */
export function isPasskeyPlace(origin: string, consoleUrl: string): boolean {
  return URL.parse(consoleUrl)?.origin === origin;
}

/** `stopped`: the person, or time, has ended it. `present`: the authenticator has a passkey for the person already. */
export type PasskeyProblem = 'stopped' | 'present' | 'failed';

/** `undefined`: the error has nothing to do with passkeys. */
export function passkeyProblemOf(error: unknown): PasskeyProblem | undefined {
  if (!(error instanceof DOMException)) return undefined;
  if (error.name === 'InvalidStateError') return 'present';
  return error.name === 'NotAllowedError' || error.name === 'AbortError' ? 'stopped' : 'failed';
}
