/** A password that somebody chooses. Throws `ServiceError` for one that guessers try first. docs/decisions/0664 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Localized } from '#contract/schema/locale.ts';
import { clientNetwork } from '#lib/cidr.ts';
import { MIN_PASSWORD_CHARS, type PasswordWeakness, weaknessOf } from '#model/password-rules.ts';
import type { Call } from './handler.ts';

/** `own`: words of the person. Returns the hash to store. */
export async function hashNewPassword(call: Call, password: string, own: readonly string[]): Promise<string> {
  const weakness = weaknessOf(password, own);
  if (weakness !== undefined) throw new ServiceError('passwordWeak', { reason: REASONS[weakness] });
  return await call.passwords.hash(password, clientNetwork(call.address));
}

const REASONS: Readonly<Record<PasswordWeakness, Localized>> = {
  short: { 'zh-CN': `应至少 ${MIN_PASSWORD_CHARS} 个字符`, en: `at least ${MIN_PASSWORD_CHARS} characters` },
  common: {
    'zh-CN': '除常用词、连续或重复的字符以及本人信息之外，应至少还有 5 个字符',
    en: 'at least 5 characters besides common words, runs, repetitions and your own names',
  },
};
