/** Settings of live streams: where publishers connect, and which clients may publish. */
import type { ListenAddress } from '#lib/listen-address.ts';
import { byteSize, listenAddress, listOf, oneOf, orOff, type Reader } from '#lib/setting-reader.ts';
import type { SettingTable } from '#lib/settings.ts';

export interface LiveValues {
  readonly rtmpListen: ListenAddress | 'off';
  readonly rtmpsListen: ListenAddress | 'off';
  readonly livePushAuth: 'off' | 'required';
  readonly liveMemory: number;
  readonly livePorts: readonly NamedPort[];
  readonly liveRecordSpool: number;
}

interface NamedPort {
  readonly scheme: (typeof SCHEMES)[number];
  readonly port: number;
}

const SCHEMES = ['http', 'https', 'rtmp', 'rtmps'] as const;

const namedPort: Reader<NamedPort> = {
  expected: 'http, https, rtmp or rtmps, = and a port, such as http=80',
  read(text) {
    const [, name, digits] = /^(\w+)=(\d{1,5})$/.exec(text) ?? [];
    const scheme = SCHEMES.find((one) => one === name);
    const port = Number(digits);
    return scheme !== undefined && port >= 1 && port <= 65_535 ? { scheme, port } : undefined;
  },
};

export const LIVE_SETTINGS: SettingTable<LiveValues> = {
  rtmpListen: {
    reader: orOff(listenAddress()),
    default: '[::]:1935',
    description: 'RTMP for publishers and players of live domains; `[::]` as above, `off`: none',
  },
  rtmpsListen: {
    reader: orOff(listenAddress()),
    default: 'off',
    description: 'The same over TLS, with the certificates of the domains; `off`: none',
  },
  livePushAuth: {
    reader: oneOf(['off', 'required']),
    default: 'off',
    description:
      'Who may publish: `off`, whoever connects from a loopback or private address; `required`, from anywhere with a key of the domain',
  },
  liveMemory: {
    reader: byteSize('64MB', '1024GB'),
    default: '1GB',
    description:
      'Memory for what live streams keep for viewers to come, of all domains together; a domain alone may fill half of it',
  },
  livePorts: {
    reader: listOf(namedPort, 0, SCHEMES.length),
    default: '',
    description:
      'Ports in the addresses of `/live/getPushInfo`, where publishers and viewers come by others than those of the listeners: through a proxy or a port that is forwarded',
  },
  liveRecordSpool: {
    reader: byteSize('64MB', '1024GB'),
    default: '8GB',
    description:
      'Disk for recordings of live streams that wait for control; beyond it, and for one domain beyond half of it, recording stops',
  },
};
