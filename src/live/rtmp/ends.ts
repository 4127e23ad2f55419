/** How an RTMP connection ends: a closed set, for logs and metrics. */

export type ConnectionEnd =
  /** The client closed its side, or its connection broke. */
  | 'clientLeft'
  /** No handshake, RTMP's or TLS's, in time. */
  | 'handshakeTimeout'
  /** The handshake of TLS failed. */
  | 'tlsFailed'
  /** A trusted proxy's header of the PROXY protocol did not come, or cannot be read. */
  | 'proxyHeader'
  /** Neither `publish` nor `play` in time, or paused for too long. */
  | 'commandTimeout'
  /** Published, and sent no audio or video in time. */
  | 'noMedia'
  /** A publisher sent nothing of its stream for too long. */
  | 'silent'
  /** Something else than RTMP, or RTMPE. */
  | 'notRtmp'
  /** Bytes that are not what RTMP says, or are beyond a limit. */
  | 'malformed'
  /** The owner of the streams refused. */
  | 'refused'
  /** The owner of the streams failed. */
  | 'failed'
  /** The owner of the streams ended it: forbidden, kicked, replaced, or the stream is over. */
  | 'closed'
  /** The client does not read its answers. */
  | 'unread'
  /** Ended to make room for newer ones. */
  | 'crowded'
  /** The service stops. */
  | 'stopping';
