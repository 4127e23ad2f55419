/** What commands are given from outside: settings, the service of this machine, somewhere to write. */
import type { ImportSummary } from '#db/export/put-in.ts';
import type { Verification } from '#db/export/verify.ts';
import type { ExportSummary } from '#db/export/write.ts';
import type { IdentityView } from '#model/fleet.ts';
import type { DoctorFinding } from './doctor-finding.ts';
import type { Installed, InstallOrder } from './installation.ts';

/** An error in words for the person at the terminal; shown without a stack. */
export class CliError extends Error {}

/** A setting that can be given as a flag. */
interface SettingFlag {
  /** Key of the option: `dataDir` of `--data-dir`. */
  readonly key: string;
  readonly name: string;
  /** Description with unit and default. */
  readonly description: string;
}

/** Settings given on the command line, by name. */
export interface GivenSettings {
  readonly flags: Readonly<Record<string, string>>;
  /** The settings file; absent: `causeway.toml` if there is one. */
  readonly file: string | undefined;
}

/** What commands need to know of the settings. */
export interface CliSettings {
  readonly dataDir: string;
  readonly url?: string;
  readonly token?: string;
  /** IANA name: where a day begins and ends. */
  readonly timeZone: string;
  /** Where the first access token is kept, if it still is. */
  readonly firstTokenFile: string;
}

/** A running control on this machine, and the secret that makes a command its operator. */
export interface LocalControl {
  readonly url: string;
  readonly localSecret: string;
  /** PEM; present when it speaks TLS. */
  readonly certificate?: string;
}

type Offline =
  /** Nothing ran, so the command runs control itself until it is disposed of. */
  | { readonly kind: 'control'; readonly control: LocalControl & AsyncDisposable }
  /** A service runs from the data directory. */
  | { readonly kind: 'inUse' };

export interface CliContext {
  readonly version: string;
  readonly settingFlags: readonly SettingFlag[];
  /** Throws `CliError` with every problem. */
  loadSettings(given: GivenSettings): CliSettings;
  /** Every setting in force and where it comes from. */
  showSettings(
    given: GivenSettings,
  ): readonly { readonly name: string; readonly value: string; readonly source: string }[];
  /** Checks the machine and the settings; settings that cannot be read are findings, too. */
  examine(given: GivenSettings): Promise<readonly DoctorFinding[]>;
  /** Throws `CliError` if something cannot be made. */
  install(order: InstallOrder): Promise<Installed>;
  /** Returns the exit code. */
  serve(given: GivenSettings): Promise<number>;
  findControl(dataDir: string): LocalControl | undefined;
  /** The sockets of the edge workers that run from the data directory, or were killed there. */
  findWorkers(dataDir: string): readonly string[];
  /** The socket of the supervisor that runs from the data directory, or was killed there. */
  supervisorSocket(dataDir: string): string;
  /** The socket of the name server that runs from the data directory, or was killed there. */
  dnsSocket(dataDir: string): string;
  openOffline(given: GivenSettings): Promise<Offline>;
  /** `file`: `-` is standard output. Throws `CliError`. */
  exportDatabase(given: GivenSettings, file: string, withSecrets: boolean): Promise<ExportSummary>;
  /** Imports into a new installation, or one that was never used. `file`: `-` is standard input. Throws `CliError`. */
  importDatabase(given: GivenSettings, file: string): Promise<ImportSummary>;
  /** Exports to a new file of the backup directory, and removes old ones. Throws `CliError`. */
  backUpDatabase(
    given: GivenSettings,
    isVerified: boolean,
  ): Promise<ExportSummary & { readonly file: string; readonly removed: readonly string[] }>;
  /**
   * Restores an export in a folder of `scratch`, or of the file, and compares. `file`: `-` is standard input. Throws
   * `CliError` if it cannot be restored.
   */
  verifyDatabase(given: GivenSettings, file: string, scratch: string | undefined): Promise<Verification>;
  /** Drains the edge of the data directory by its own order, or ends that. Throws `CliError` if there is none. */
  setSelfDrain(given: GivenSettings, isDraining: boolean): void;
  /**
   * Enrols this machine as an edge, with a token or that of the settings. `edge`: the wanted id. Throws `CliError`.
   */
  enrolEdge(
    given: GivenSettings,
    order: { readonly token: string | undefined; readonly edge: string | undefined },
  ): Promise<{ readonly edge: string; readonly group: string }>;
  /** Reads the identity that this machine has as an edge. Throws `CliError` if there is none. */
  readEdgeIdentity(given: GivenSettings): Promise<IdentityView>;
  /** Writes to standard output as it stands. */
  write(text: string): void;
  /** Writes a line to standard output. */
  print(line: string): void;
}
