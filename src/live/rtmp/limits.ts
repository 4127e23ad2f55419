/** What one RTMP connection, and all of them, may take up. */

export interface RtmpLimits {
  /** From the connection's first moment to the end of the handshake, that of TLS included. */
  readonly handshakeMs: number;
  /** From the handshake, or from the end of a publish or play, to the next `publish` or `play`. */
  readonly commandMs: number;
  /** From an accepted publish to its first audio or video. */
  readonly firstMediaMs: number;
  /** A publisher that sends no message of its stream for so long is lost. */
  readonly silenceMs: number;
  /** For a player that is paused. */
  readonly pauseMs: number;
  /** From the end of a connection until it is reset, if it is still there. */
  readonly resetMs: number;
  /** The same of a player whose stream is over: it has the rest to take. */
  readonly drainMs: number;
  /** Connections that neither publish nor play: for each IPv4 address or IPv6 /64, and in all. The oldest goes first. */
  readonly maxWaitingPerNetwork: number;
  readonly maxWaiting: number;
  readonly maxConnections: number;
  /** Of answers that a client does not read. */
  readonly maxQueuedAnswerBytes: number;
  /** Of a player, stream and answers together. The hub's own bound is lower; this one holds for what the player makes us say. */
  readonly maxQueuedPlayBytes: number;
}

export const DEFAULT_RTMP_LIMITS: RtmpLimits = {
  handshakeMs: 5_000,
  commandMs: 10_000,
  firstMediaMs: 5_000,
  silenceMs: 15_000,
  pauseMs: 600_000,
  resetMs: 800, // within a second, also where timers are late
  drainMs: 10_000,
  maxWaitingPerNetwork: 32,
  maxWaiting: 1_000,
  maxConnections: 10_000,
  maxQueuedAnswerBytes: 256 * 1024,
  maxQueuedPlayBytes: 24 * 1024 * 1024,
};
