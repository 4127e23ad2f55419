/** The requests that we make of a carrier, less their sequence. */
import type { Fields, Tlv } from './layouts.ts';

type RequestCommand = BindCommand | 'submitSm' | 'enquireLink' | 'unbind';
export type BindCommand = 'bindTransceiver' | 'bindTransmitter' | 'bindReceiver';

export type SmppRequest = {
  readonly [C in RequestCommand]: {
    readonly kind: 'request';
    readonly command: C;
    readonly fields: Fields<C>;
    readonly tlvs: readonly Tlv[];
  };
}[RequestCommand];
