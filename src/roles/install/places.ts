/** Where an installation has its files. Pure. */

/** The user and group of the service. */
export const SERVICE_USER = 'causeway';

export const PROGRAMS = '/opt/causeway';
/** Link to the folder of the release that is started next. */
export const CURRENT = `${PROGRAMS}/current`;
export const SETTINGS_FILE = '/etc/causeway/causeway.toml';
export const DATA_DIRECTORY = '/var/lib/causeway';
export const BACKUP_DIRECTORY = '/var/backups/causeway';

/** Folders that differ between a machine and a package. */
export interface Places {
  readonly units: string;
  /** Path of the command `causeway`. */
  readonly command: string;
}

export const OF_MACHINE: Places = { units: '/etc/systemd/system', command: '/usr/local/bin/causeway' };
export const OF_PACKAGE: Places = { units: '/usr/lib/systemd/system', command: '/usr/bin/causeway' };

export const MADE_BY = '# Made by "causeway install", which replaces it.';
