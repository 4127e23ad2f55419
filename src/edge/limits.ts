/** What bounds a worker's connections, requests and waits: milliseconds, bytes and counts. Tests choose others. */
import { MAX_REQUEST_BODY_BYTES } from './incoming-body.ts';
import { MAX_POOL_CONNECTIONS } from './origin/pools.ts';
import { MAX_WEB_SOCKETS } from './web-sockets.ts';

/** Edge rules 2 and 10 give the origins' three. */
export interface EdgeLimits {
  readonly connectMs: number;
  /** For a connection to be free, where as many as may be are in use. */
  readonly originWaitMs: number;
  readonly maxOriginConnections: number;
  /** Time that an origin has waited for one client, in all, from which its connection may be taken back for others. */
  readonly originSlowMs: number;
  readonly firstByteMs: number;
  readonly originIdleMs: number;
  /** Age after which a connection takes no more requests. */
  readonly originConnectionMs: number;
  /** For a fetch that goes on for the store alone, beside what its length allows. */
  readonly unreadFetchMs: number;
  /** A client that neither sends its body nor reads its answer. */
  readonly clientIdleMs: number;
  /** Without a byte sent to a client that has ended its side: it may read on, or be gone. */
  readonly halfClosedMs: number;
  /** For the header that a trusted proxy begins a connection with, where it has to. */
  readonly proxyHeaderMs: number;
  readonly requestHeaderMs: number;
  /** A whole request, body included. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** From the first byte of a TLS connection to the first that is encrypted. */
  readonly handshakeMs: number;
  /** At once; one more ends the oldest. */
  readonly maxHandshakes: number;
  readonly maxTlsConnections: number;
  /** Open at once; one more ends the connection that has most of them. */
  readonly maxHttp2Streams: number;
  /** In memory, ready for handshakes. */
  readonly maxCertificates: number;
  readonly maxHeaderBytes: number;
  readonly maxRequestBodyBytes: number;
  /** Memory for bodies that wait for a slow client or for their own end, of requests and answers together. */
  readonly maxBufferMemoryBytes: number;
  /** Open at once, for those that are larger. */
  readonly maxBufferFiles: number;
  /** Of one answer, in its file. */
  readonly maxBufferedAnswerBytes: number;
  /** The last one's answer ends it. */
  readonly maxRequestsPerConnection: number;
  /** For their turn on one connection; one more is the connection's last. */
  readonly maxWaitingRequests: number;
  /** Memory for what is read from the disk and clients have not taken. */
  readonly maxReaderBytes: number;
  readonly maxWebSockets: number;
  /** Without a byte either way. */
  readonly webSocketIdleMs: number;
  /** The same, after one end has ended its side. */
  readonly webSocketEndedMs: number;
  /** After which it is asked again whether the client may have one. */
  readonly webSocketCheckMs: number;
}

export const DEFAULT_LIMITS: EdgeLimits = {
  connectMs: 5_000,
  originWaitMs: 5_000,
  maxOriginConnections: MAX_POOL_CONNECTIONS,
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
  maxWebSockets: MAX_WEB_SOCKETS,
  webSocketIdleMs: 600_000, // ends that have something to say or to ask do so more often
  webSocketEndedMs: 5_000,
  webSocketCheckMs: 60_000,
};
