/** What bounds a worker's connections, requests and waits: milliseconds, bytes and counts. Tests choose others. */
import { MAX_REQUEST_BODY_BYTES } from './incoming-body.ts';

/** Edge rules 2 and 10 give the origins' three. */
export interface EdgeLimits {
  readonly connectMs: number;
  /** The same for a parent, which is an edge of the fleet. */
  readonly parentConnectMs: number;
  /** Longest wait for a free connection to an origin when all that are allowed are in use. */
  readonly originWaitMs: number;
  /** Connections per pool and worker; further requests wait for a free one. */
  readonly maxOriginConnections: number;
  /** Time that an origin has waited for one client, in all, from which its connection may be taken back for others. */
  readonly originSlowMs: number;
  readonly firstByteMs: number;
  readonly originIdleMs: number;
  /** Age after which a connection takes no more requests. */
  readonly originConnectionMs: number;
  /** Time limit of a fetch that continues for the store alone, in addition to what its length allows. */
  readonly unreadFetchMs: number;
  /** A client that neither sends its body nor reads its answer. */
  readonly clientIdleMs: number;
  /** Time without a byte sent to a client that has ended its side: it may still be reading, or be gone. */
  readonly halfClosedMs: number;
  /** Time for a trusted proxy's PROXY header, where one is required. */
  readonly proxyHeaderMs: number;
  readonly requestHeaderMs: number;
  /** A whole request, body included. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** Time from the first byte of a TLS connection to its first encrypted byte. */
  readonly handshakeMs: number;
  /** Concurrent handshakes; one more ends the oldest. */
  readonly maxHandshakes: number;
  readonly maxTlsConnections: number;
  /** Open at once; one more ends the connection that has most of them. */
  readonly maxHttp2Streams: number;
  /** Certificates kept in memory, ready for handshakes. */
  readonly maxCertificates: number;
  readonly maxHeaderBytes: number;
  readonly maxRequestBodyBytes: number;
  /** Memory for bodies that wait for a slow client or for their own end, of requests and answers together. */
  readonly maxBufferMemoryBytes: number;
  /** Open at once, for those that are larger. */
  readonly maxBufferFiles: number;
  /** File bytes that one answer may take. */
  readonly maxBufferedAnswerBytes: number;
  /** The last one's answer ends it. */
  readonly maxRequestsPerConnection: number;
  /** Requests that wait for their turn on one connection; one more is the connection's last. */
  readonly maxWaitingRequests: number;
  /** Memory for what is read from the disk and clients have not taken. */
  readonly maxReaderBytes: number;
  /** Connections of a worker that carry WebSocket. */
  readonly maxWebSockets: number;
  /** Time without a byte in either direction. */
  readonly webSocketIdleMs: number;
  /** The same, after one end has ended its side. */
  readonly webSocketEndedMs: number;
  /** Interval at which an open WebSocket is checked again: whether the client may still have it. */
  readonly webSocketCheckMs: number;
}

export const DEFAULT_LIMITS: EdgeLimits = {
  connectMs: 5_000,
  parentConnectMs: 1_000,
  originWaitMs: 5_000,
  maxOriginConnections: 256,
  originSlowMs: 2_000, // less than others wait
  firstByteMs: 30_000,
  originIdleMs: 30_000,
  originConnectionMs: 60_000,
  unreadFetchMs: 30_000,
  clientIdleMs: 60_000,
  halfClosedMs: 10_000,
  proxyHeaderMs: 5_000,
  requestHeaderMs: 15_000,
  requestMs: 600_000,
  keepAliveMs: 75_000,
  handshakeMs: 10_000,
  maxHandshakes: 2_000, // some 60 KB each
  maxTlsConnections: 20_000, // the same
  maxHttp2Streams: 50_000, // some 20 KB each
  maxCertificates: 3_000, // 50 KB each, and a third of a millisecond to make again
  maxHeaderBytes: 32 * 1024,
  maxRequestBodyBytes: MAX_REQUEST_BODY_BYTES,
  maxBufferMemoryBytes: 64 * 1024 * 1024,
  maxBufferFiles: 1_000,
  maxBufferedAnswerBytes: 128 * 1024 * 1024,
  // Long enough that a keep-alive client is not disturbed, short enough that no connection lives for ever.
  maxRequestsPerConnection: 10_000,
  maxWaitingRequests: 1_000,
  maxReaderBytes: 1024 * 1024 * 1024, // 2,000 clients, of half a MiB each
  maxWebSockets: 10_000, // each has two sockets, and up to 256 KiB in flight while both ends are slow
  webSocketIdleMs: 600_000, // ends that have something to say or to ask do so more often
  webSocketEndedMs: 5_000,
  webSocketCheckMs: 60_000,
};
