/** Checks of the database, and of certificates in it and in files. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import type { Config } from '#config';
import { type InspectedDatabase, inspectDatabase } from '#db/inspect.ts';
import { identityFile } from '#fleet/identity-file.ts';
import { databasePath } from '#lib/data-directory.ts';
import { DAY_MS } from '#lib/durations.ts';
import { createLogger } from '#lib/logger.ts';
import { withoutPassword } from '#lib/postgres-url.ts';
import { readPrivateFile } from '#lib/private-file.ts';
import { CLOCK_WARNING_MS } from '#model/edge-health.ts';
import { databaseOptions } from '../database/database-options.ts';
import { messageOf, ok, problem, warning } from './findings.ts';

/** How long before its end a certificate is worth a warning. */
const SOON_MS = 14 * DAY_MS;

/** The database, and the customers' certificates in it. */
export async function checkDatabase(config: Config, now: number): Promise<readonly DoctorFinding[]> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === undefined && !existsSync(databasePath(dataDir)))
    return [ok('database', `SQLite: ${databasePath(dataDir)} is made by the first start`)];
  const name = databaseUrl === undefined ? 'SQLite' : `PostgreSQL at ${withoutPassword(databaseUrl)}`;
  const log = createLogger({ level: 'silent', name: 'command' });
  try {
    const found = await inspectDatabase(databaseOptions(config, log), now + SOON_MS);
    return [judgeDatabase(name, found), ...judgeEnding(found.ending, now), ...judgeServerClock(found)];
  } catch (error) {
    const advice =
      databaseUrl === undefined
        ? 'restore it from a backup if it is damaged (docs/operations.md)'
        : 'check that the server runs, that this machine reaches it and that DATABASE_URL is right';
    return [problem('database', messageOf(error), advice)];
  }
}

function judgeDatabase(name: string, { step, isNewer, isUpToDate }: InspectedDatabase): DoctorFinding {
  if (isNewer)
    return problem(
      'database',
      `${name} was used by a newer release (${step})`,
      'run that release, or restore a backup from before it',
    );
  if (isUpToDate) return ok('database', `${name} answers and is up to date`);
  return ok('database', `${name} answers; it is brought up to date by the next start (now ${step ?? 'empty'})`);
}

function judgeServerClock({ engine, clockAheadMs }: InspectedDatabase): readonly DoctorFinding[] {
  if (engine === 'sqlite') return [];
  const seconds = (Math.abs(clockAheadMs) / 1000).toFixed(1);
  const found = `this machine is ${seconds} s ${clockAheadMs < 0 ? 'behind' : 'ahead of'} the database server`;
  if (Math.abs(clockAheadMs) < CLOCK_WARNING_MS) return [ok('clock', found)];
  return [warning('clock', found, 'synchronize both clocks; what is stored is decided by the clock of the server')];
}

/** Customers named in a finding. */
const MAX_NAMED = 5;

function judgeEnding(ending: InspectedDatabase['ending'], now: number): readonly DoctorFinding[] {
  if (ending.length === 0) return [ok('certificates', 'no certificate of a domain ends within 14 days')];
  const some = ending.slice(0, MAX_NAMED).map(({ names, endsAt }) => `${names[0] ?? '-'} (${dayOf(endsAt)})`);
  const more = ending.length > MAX_NAMED ? ' and others' : '';
  const expired = ending.filter(({ endsAt }) => endsAt <= now).length;
  return [
    warning(
      'certificates',
      `${ending.length} certificates of domains end within 14 days, ${expired} of them have ended: ${some.join(', ')}${more}`,
      'have the customers replace them; for those that the service obtains, read the log for the reason',
    ),
  ];
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The certificates of the service itself: of control's listener, and of this machine in the fleet. */
export function checkCertificates(config: Config, now: number): readonly DoctorFinding[] {
  const findings: DoctorFinding[] = [];
  const { controlTls, fleetFiles, roles, dataDir } = config;
  if (controlTls !== undefined && roles.includes('control'))
    findings.push(judgePair('control-tls-cert', controlTls, now));
  if (fleetFiles !== undefined) {
    const pair = { cert: readFileSync(fleetFiles.cert, 'utf8'), key: readFileSync(fleetFiles.key, 'utf8') };
    findings.push(judgePair('fleet-cert', pair, now));
  } else if (config.followsFleet) findings.push(judgeIdentity(dataDir, now));
  return findings;
}

/** `setting`: of the certificate. Pure. */
function judgePair(
  setting: string,
  { cert, key }: { readonly cert: string; readonly key: string },
  now: number,
): DoctorFinding {
  try {
    const leaf = new X509Certificate(cert);
    if (!leaf.checkPrivateKey(createPrivateKey(key)))
      return problem(
        'certificates',
        `the key does not belong to the certificate of ${setting}`,
        'name the key of this certificate',
      );
    return judgeValidity(
      `the certificate of ${setting}`,
      leaf.validFromDate.getTime(),
      leaf.validToDate.getTime(),
      now,
    );
  } catch (error) {
    return problem(
      'certificates',
      `${setting} cannot be read: ${messageOf(error)}`,
      'expected PEM files of a certificate chain and its key',
    );
  }
}

function judgeValidity(what: string, beginsAt: number, endsAt: number, now: number): DoctorFinding {
  if (now < beginsAt)
    return problem(
      'certificates',
      `${what} is valid from ${dayOf(beginsAt)} on`,
      'check the clock, or use another one',
    );
  if (now >= endsAt)
    return problem('certificates', `${what} ended on ${dayOf(endsAt)}`, 'renew it, then restart the service');
  const found = `${what} ends on ${dayOf(endsAt)}`;
  // Certificates of the fleet live for days.
  const isSoon = endsAt - now < Math.min(SOON_MS, (endsAt - beginsAt) / 4);
  return isSoon ? warning('certificates', found, 'renew it, then restart the service') : ok('certificates', found);
}

function judgeIdentity(dataDir: string, now: number): DoctorFinding {
  const file = identityFile(dataDir);
  const read = readPrivateFile(file);
  if (read.kind === 'missing') return ok('certificates', 'this machine enrols at its first start');
  if (read.kind !== 'text') {
    const why = read.kind === 'exposed' ? `it may be read by others (mode ${read.mode})` : read.reason;
    return problem(
      'certificates',
      `the identity of this edge, ${file}, cannot be used: ${why}`,
      'chmod 600 it, or enrol the edge anew',
    );
  }
  const { notAfter } = JSON.parse(read.text) as { readonly notAfter: unknown };
  if (typeof notAfter !== 'number')
    return problem(
      'certificates',
      `the identity of this edge, ${file}, is damaged`,
      'enrol the edge anew (docs/fleet.md)',
    );
  const found = `the identity of this edge ends on ${dayOf(notAfter)}`;
  return now < notAfter
    ? ok('certificates', `${found}; it is renewed before`)
    : problem('certificates', found, 'start it within fleet-renew-grace-days, or enrol it anew (docs/fleet.md)');
}
