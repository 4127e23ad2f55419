/** The other end of a feed connection that was made with a certificate. */

/** An enrolled edge, as its certificate says. A connection over the unix socket has no peer: its requests name the edge. */
export interface Peer {
  readonly kind: 'edge';
  readonly edge: string;
  /** Serial number of its certificate, hex. */
  readonly serial: string;
  readonly group: string;
}
