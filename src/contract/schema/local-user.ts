/** The user of control's machine, as a command says it. Nobody verifies it, and the audit trail shows it as such. */

export const LOCAL_USER_FIELD = 'x-causeway-user';

const MAX_USER_CHARS = 64;

/** Returns the name as a field can carry it: characters that are not visible ASCII become `?`. */
export function localUserText(name: string): string {
  return name.replace(/[^!-~]/gu, '?').slice(0, MAX_USER_CHARS);
}
