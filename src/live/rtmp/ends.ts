/** How an RTMP connection ends: a closed set, for logs and metrics. */

export type ConnectionEnd =
  /** The client closed its side, or its connection broke. */
  | 'clientLeft'
  /** The RTMP or TLS handshake did not finish in time. */
  | 'handshakeTimeout'
  /** The TLS handshake failed. */
  | 'tlsFailed'
  /** A trusted proxy's PROXY protocol header is missing or malformed. */
  | 'proxyHeader'
  /** Neither `publish` nor `play` in time, or paused for too long. */
  | 'commandTimeout'
  /** A publisher sent no audio or video in time. */
  | 'noMedia'
  /** A publisher sent nothing of its stream for too long. */
  | 'silent'
  /** Another protocol than RTMP, or RTMPE. */
  | 'notRtmp'
  /** Bytes that violate the protocol or exceed a limit. */
  | 'malformed'
  /** The owner of the streams refused. */
  | 'refused'
  /** The owner of the streams failed. */
  | 'failed'
  /** The owner of the streams ended it: forbidden, kicked, replaced, or the stream is over. */
  | 'closed'
  /** The client does not read the responses. */
  | 'unread'
  /** Closed to make room for newer connections. */
  | 'crowded'
  /** The service stops. */
  | 'stopping';
