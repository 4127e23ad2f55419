/** Settings of live streams: where publishers connect, and which clients may publish. */
import { byteSize, listenAddress, listOf, mapped, oneOf, orOff } from '#lib/setting-reader.ts';
import type { ConfigTable } from '#lib/settings.ts';

const SCHEMES = ['http', 'https', 'rtmp', 'rtmps'] as const;

const namedPort = mapped('http, https, rtmp or rtmps, = and a port, such as http=80', (text) => {
  const [, name, digits] = /^(\w+)=(\d{1,5})$/.exec(text) ?? [];
  const scheme = SCHEMES.find((one) => one === name);
  const port = Number(digits);
  return scheme !== undefined && port >= 1 && port <= 65_535 ? { scheme, port } : undefined;
});

export const LIVE_SETTINGS = {
  rtmpListen: {
    reader: orOff(listenAddress()),
    default: '[::]:1935',
    description: 'RTMP for publishers and players of live domains; `[::]` as above, `off`: none',
  },
  rtmpsListen: {
    reader: orOff(listenAddress()),
    default: 'off',
    description: 'RTMP over TLS, with the certificates of the domains; `off`: none',
  },
  livePushAuth: {
    reader: oneOf(['off', 'required']),
    default: 'off',
    description:
      'Who may publish: `off`, clients with a loopback or private address; `required`, any client with a key of the domain',
  },
  liveMemory: {
    reader: byteSize('64MB', '1024GB'),
    default: '1GB',
    description:
      'Memory for recent media of live streams, kept for new viewers, of all domains together; one domain may use half of it',
  },
  livePorts: {
    reader: listOf(namedPort, 0, SCHEMES.length),
    default: '',
    description:
      'Ports in the URLs of `/live/getPushInfo`, if they differ from those of the listeners because of a proxy or port forwarding',
  },
  liveRecordSpool: {
    reader: byteSize('64MB', '1024GB'),
    default: '8GB',
    description:
      'Disk space for recordings that have not been sent to control; recording stops when it is full, and for one domain when half of it is',
  },
} satisfies ConfigTable;
