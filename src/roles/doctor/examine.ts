/** All checks of `causeway doctor`. They change nothing, and work whether a service runs, cannot start, or is absent. */
import { join } from 'node:path';
import type { DoctorFinding } from '#cli/command/doctor-finding.ts';
import type { Config } from '#config';
import { databasePath, inspectDataDirectory } from '#lib/data-directory.ts';
import { DEFAULT_SOURCE, type SettingInForce, type SettingProblem } from '#lib/settings.ts';
import { findControl } from '../control/control-file.ts';
import { checkCertificates, checkDatabase } from './database-checks.ts';
import { type Examine, ok, problem, runChecks, warning } from './findings.ts';
import { checkClock, checkDns, checkFileLimits, checkLibraries } from './machine-checks.ts';
import { checkPorts } from './port-checks.ts';
import { checkOriginGuard, checkSettingsFiles, checkTimeZone, checkTrustedProxies, filesOf } from './setting-checks.ts';
import { checkBackups, checkDataDirectory, checkDisk, checkKeyring } from './storage-checks.ts';

interface Examination {
  readonly settings:
    | { readonly kind: 'config'; readonly config: Config; readonly sources: readonly SettingInForce[] }
    | { readonly kind: 'problems'; readonly problems: readonly SettingProblem[] };
  /** The folder of the program. */
  readonly root: string;
  readonly now: number;
}

/** Never rejects. */
export function examine({ settings, root, now }: Examination): Promise<readonly DoctorFinding[]> {
  const ofMachine: readonly (readonly [string, Examine])[] = [
    ['libraries', () => checkLibraries(root)],
    ['DNS', checkDns],
  ];
  if (settings.kind === 'config')
    return runChecks([
      ['settings', () => [describeSettings(settings.sources), ...checkSettingsFiles(settings.sources)]],
      ...ofMachine,
      ...checksOf(settings, now),
    ]);
  const problems = settings.problems.map(({ setting, source, problem: what }) =>
    problem('settings', `${setting} (${source}): ${what}`, 'mend it: the service does not start'),
  );
  const rest = warning(
    'settings',
    'ports, data directory, disk, database, key ring, certificates, time zone and proxies were not checked',
    'run the command again when the settings can be read',
  );
  return runChecks([
    ['settings', () => [...problems, rest]],
    ...ofMachine,
    ['clock', () => checkClock(now, [join(root, 'package.json')])],
    ['file limits', () => checkFileLimits(undefined)],
  ]);
}

function describeSettings(sources: readonly SettingInForce[]): DoctorFinding {
  const given = sources.filter(({ source }) => source !== DEFAULT_SOURCE);
  const places = filesOf(given);
  return ok(
    'settings',
    `${given.length} settings are given${places.length > 0 ? `, also in ${places.join(', ')}` : ''}`,
  );
}

function checksOf(
  { config, sources }: Extract<Examination['settings'], { readonly kind: 'config' }>,
  now: number,
): readonly (readonly [string, Examine])[] {
  const { dataDir, roles } = config;
  const inspected = inspectDataDirectory(dataDir);
  const isRunning = inspected.kind === 'installation' && inspected.isInUse;
  const stamped = [databasePath(dataDir), join(dataDir, 'run'), join(dataDir, 'logs'), join(dataDir, 'edge')];
  const zone = sources.find(({ name }) => name === 'time-zone')?.source;
  const machineZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const ofControl: readonly (readonly [string, Examine])[] = [
    ['database', () => checkDatabase(config, now)],
    ['key ring', () => checkKeyring(config)],
    ['backup', () => checkBackups(config, now)],
  ];
  return [
    ['data directory', () => checkDataDirectory(config, inspected)],
    ['ports', () => checkPorts(config, isRunning)],
    ['file limits', () => checkFileLimits(isRunning ? findControl(dataDir)?.pid : undefined)],
    ['disk', () => checkDisk(config)],
    ['clock', () => checkClock(now, stamped)],
    ...(roles.includes('control') ? ofControl : []),
    ['time zone', () => checkTimeZone(config, zone, machineZone)],
    ['origin guard', () => checkOriginGuard(config)],
    ['trusted proxies', () => checkTrustedProxies(config)],
    ['certificates', () => checkCertificates(config, now)],
  ];
}
