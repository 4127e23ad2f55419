/** Limits of one RTMP connection and of all of them. */

export interface RtmpLimits {
  /** Time from accepting the connection to the end of the RTMP handshake, the TLS handshake included. */
  readonly handshakeMs: number;
  /** Time from the handshake, or from the end of a publish or play, to the next `publish` or `play`. */
  readonly commandMs: number;
  /** Time from an accepted publish to its first audio or video. */
  readonly firstMediaMs: number;
  /** Silence after which a publisher counts as lost. */
  readonly silenceMs: number;
  /** Longest pause of a player. */
  readonly pauseMs: number;
  /** Time from the orderly end of a connection to its reset, if it is still open. */
  readonly resetMs: number;
  /** The same for a player whose stream has ended, which still has to receive the rest. */
  readonly drainMs: number;
  /**
   * Connections that neither publish nor play: per IPv4 address or IPv6 /64, and in total. The oldest is closed first.
   */
  readonly maxWaitingPerNetwork: number;
  readonly maxWaiting: number;
  readonly maxConnections: number;
  /** Unsent bytes of responses to a client that does not read. */
  readonly maxQueuedAnswerBytes: number;
  /**
   * Unsent bytes of a player, stream and responses together. The hub's own limit is lower; this one covers responses
   * that the player provokes.
   */
  readonly maxQueuedPlayBytes: number;
}

export const DEFAULT_RTMP_LIMITS: RtmpLimits = {
  handshakeMs: 5_000,
  commandMs: 10_000,
  firstMediaMs: 5_000,
  silenceMs: 15_000,
  pauseMs: 600_000,
  resetMs: 800, // within a second even if timers are late
  drainMs: 10_000,
  maxWaitingPerNetwork: 32,
  maxWaiting: 1_000,
  maxConnections: 10_000,
  maxQueuedAnswerBytes: 256 * 1024,
  maxQueuedPlayBytes: 24 * 1024 * 1024,
};
