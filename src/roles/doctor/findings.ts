/** Findings of `causeway doctor`: how checks make them, and what becomes of a check that fails or takes too long. */
import { setTimeout as delay } from 'node:timers/promises';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';

/** A check resolves with one finding for each thing that it has looked at. */
export type Examine = () => Promise<readonly DoctorFinding[]> | readonly DoctorFinding[];

/** Limit of one check. A database is given 5 s to accept a connection. */
const CHECK_LIMIT_MS = 15_000;

export function ok(check: string, found: string): DoctorFinding {
  return { check, state: 'ok', found };
}

export function warning(check: string, found: string, advice: string): DoctorFinding {
  return { check, state: 'warning', found, advice };
}

export function problem(check: string, found: string, advice: string): DoctorFinding {
  return { check, state: 'problem', found, advice };
}

/** Runs checks at the same time. Resolves with their findings in the order of `checks`; never rejects. */
export async function runChecks(
  checks: readonly (readonly [name: string, check: Examine])[],
): Promise<readonly DoctorFinding[]> {
  const findings = await Promise.all(checks.map(([name, check]) => runCheck(name, check)));
  return findings.flat();
}

async function runCheck(name: string, check: Examine): Promise<readonly DoctorFinding[]> {
  const stop = new AbortController();
  const late = delay(CHECK_LIMIT_MS, undefined, { signal: stop.signal, ref: false }).then(
    () => [problem(name, `no result within ${CHECK_LIMIT_MS / 1000} s`, 'find out what does not answer')],
    () => [], // aborted, since the check has ended
  );
  try {
    return await Promise.race([Promise.try(check), late]);
  } catch (error) {
    return [problem(name, messageOf(error), 'mend that, then run the command again')];
  } finally {
    stop.abort();
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
