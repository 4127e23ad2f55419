/** The settings of edges: listeners, workers, cache, and what they may connect to. */
import { availableParallelism } from 'node:os';
import type { ListenAddress } from '#lib/listen-address.ts';
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
import type { SettingTable } from '#lib/settings.ts';

export interface EdgeValues {
  readonly edgeHttpListen: ListenAddress;
  readonly edgeHttpsListen: ListenAddress | 'off';
  readonly edgeTrustedProxies: readonly string[];
  readonly edgeProxyProtocol: 'off' | 'required';
  readonly edgeWorkers: number;
  readonly edgeId: string;
  readonly feedSocket?: string;
  readonly cacheMemory: number;
  readonly cacheDisk?: string;
  readonly cacheDiskSize: number;
  readonly bufferDiskSize: number;
  readonly originAllow: readonly string[];
  readonly originVerify: 'names' | 'always' | 'never';
}

export const EDGE_SETTINGS: SettingTable<EdgeValues> = {
  edgeHttpListen: {
    reader: listenAddress(),
    default: '[::]:8080',
    description: 'HTTP for viewers; `[::]` takes IPv4 too, and is 0.0.0.0 on a machine without IPv6',
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
      "Proxies before the edge that are believed whose a request is, and whether its client's connection is by TLS",
  },
  edgeProxyProtocol: {
    reader: oneOf(['off', 'required']),
    default: 'off',
    description: '`required`: connections of those proxies begin with a header of the PROXY protocol, version 1 or 2',
  },
  edgeWorkers: {
    reader: autoOr(wholeNumber(1, 256), Math.min(256, availableParallelism())),
    default: 'auto',
    unit: 'processes',
    description: 'Edge worker processes; `auto`: one per core',
  },
  edgeId: {
    reader: textThat('1 to 63 letters, digits, dots and hyphens', /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i),
    default: 'local',
    description: 'The name under which this edge reports; each edge needs one of its own',
  },
  feedSocket: {
    reader: path(),
    description: 'Unix socket of the feed, at most 100 bytes; without it `run/feed.sock` in the data directory',
  },
  cacheMemory: {
    reader: zeroOr(byteSize('1MB', '1024GB')),
    default: '256MB',
    description:
      'Memory for cached responses and for those on their way in, shared out among the edge workers; 0: only what is on disk',
  },
  cacheDisk: {
    reader: path(),
    description: 'Directory for cached responses, of this service alone; without it `cache` in the data directory',
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
      'Disk in the data directory for bodies of requests until they are whole, and of answers for slow clients, shared out among the edge workers; 0: none',
  },
  originAllow: {
    reader: listOf(network(), 0, 256),
    default: '',
    description: 'Private addresses that an origin may have in spite of the guard',
  },
  originVerify: {
    reader: oneOf(['names', 'always', 'never']),
    default: 'names',
    description: 'Whose certificates are verified over TLS: origins given by `names`, all of them, or none',
  },
};
