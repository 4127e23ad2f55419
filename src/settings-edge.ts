/** The settings of edges: listeners, workers, cache, and what they may connect to. */
import { availableParallelism } from 'node:os';
import {
  autoOr,
  byteSize,
  listenAddress,
  listOf,
  network,
  oneOf,
  orOff,
  path,
  textThat,
  wholeNumber,
  zeroOr,
} from '#lib/setting-reader.ts';
import type { ConfigTable } from '#lib/settings.ts';
import { EDGE_ID } from '#model/fleet.ts';

export const EDGE_SETTINGS = {
  edgeHttpListen: {
    reader: listenAddress(),
    default: '[::]:8080',
    description: 'HTTP for viewers; `[::]` also accepts IPv4, and becomes 0.0.0.0 on a machine without IPv6',
  },
  edgeHttpsListen: {
    reader: orOff(listenAddress()),
    default: '[::]:8443',
    description: 'HTTPS for viewers, over HTTP/2 and HTTP/1.1; `[::]` as above, `off`: none',
  },
  edgeTrustedProxies: {
    reader: listOf(network(), 0, 256),
    default: '',
    description:
      "Proxies in front of the edge that are trusted to report a client's address and whether it connects over TLS",
  },
  edgeProxyProtocol: {
    reader: oneOf(['off', 'required']),
    default: 'off',
    description: '`required`: connections from those proxies must begin with a PROXY protocol header, version 1 or 2',
  },
  healthAllow: {
    reader: listOf(network(), 0, 256),
    default: '',
    description:
      'Networks that get the health page `/.well-known/causeway/health` of the edge, beside loopback and edge-trusted-proxies',
  },
  edgeWorkers: {
    reader: autoOr(wholeNumber(1, 256), Math.min(256, availableParallelism())),
    default: 'auto',
    unit: 'processes',
    description: 'Edge worker processes; `auto`: one per core',
  },
  edgeId: {
    reader: textThat('1 to 63 letters, digits, dots, underscores and hyphens', EDGE_ID),
    default: 'local',
    description:
      'Unique name under which this edge reports; an enrolled edge has that of its certificate, which this must be if it is set',
  },
  feedSocket: {
    reader: path(),
    description: 'Unix socket of the feed, at most 100 bytes; by default `run/feed.sock` in the data directory',
  },
  cacheMemory: {
    reader: zeroOr(byteSize('1MB', '1024GB')),
    default: '256MB',
    description:
      'Memory for cached responses and responses being fetched, divided among the edge workers; 0: cache on disk only',
  },
  cacheDisk: {
    reader: path(),
    description: 'Directory for cached responses, used by this service alone; by default `cache` in the data directory',
  },
  cacheDiskSize: {
    reader: zeroOr(byteSize('1MB', '1024GB')),
    default: '10GB',
    description: 'Disk for cached responses, shared by the edge workers; 0: none',
  },
  bufferDiskSize: {
    reader: zeroOr(byteSize('1MB', '1024GB')),
    default: '4GB',
    description:
      'Disk space in the data directory to buffer request bodies until they are complete and responses to slow clients, divided among the edge workers; 0: none',
  },
  drainIdleSeconds: {
    reader: wholeNumber(1, 3600),
    default: '10',
    unit: 'seconds',
    description: 'When edge workers are replaced: how long the earlier ones keep idle connections',
  },
  drainSeconds: {
    reader: wholeNumber(1, 86_400),
    default: '600',
    unit: 'seconds',
    description:
      'When edge workers are replaced: how long the earlier ones finish long answers, WebSockets and FLV viewers; then these are cut',
  },
  originAllow: {
    reader: listOf(network(), 0, 256),
    default: '',
    description: 'Private addresses that origins may have; others are blocked',
  },
  originVerify: {
    reader: oneOf(['names', 'always', 'never']),
    default: 'names',
    description: 'Which origins must have a valid TLS certificate: those given by name (`names`), all, or none',
  },
} satisfies ConfigTable;
