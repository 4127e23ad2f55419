/** The settings of live streams: where publishers connect, and who may publish. */
import type { ListenAddress } from '#lib/listen-address.ts';
import { byteSize, listenAddress, oneOf, orOff } from '#lib/setting-reader.ts';
import type { SettingTable } from '#lib/settings.ts';

export interface LiveValues {
  readonly rtmpListen: ListenAddress | 'off';
  readonly rtmpsListen: ListenAddress | 'off';
  readonly livePushAuth: 'off' | 'required';
  readonly liveMemory: number;
}

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
};
