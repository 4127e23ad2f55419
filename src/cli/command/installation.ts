/** What `causeway install` is asked for, and what it has done. */

/** What became of one thing that an installation has. */
export interface InstalledPiece {
  readonly state: 'made' | 'changed' | 'kept';
  readonly what: string;
}

export interface InstallOrder {
  /** A folder that becomes the root of a package or an image; absent: this machine. */
  readonly root: string | undefined;
  /** Whether systemd holds the sockets of ports 80 and 443; otherwise the service may bind low ports itself. */
  readonly hasSocket: boolean;
}

export interface Installed {
  readonly pieces: readonly InstalledPiece[];
  /** What is left to do, a line each. */
  readonly next: readonly string[];
}
