/** SETTINGS of both ends of a connection. RFC 9113 §6.5. Pure. */
import { Http2ErrorCode, readUint32, writeUint32 } from './frames.ts';

/** The client's settings that matter here. */
export interface ClientSettings {
  /** Initial send window of a new stream. */
  readonly initialWindow: number;
  /** The client wants a smaller header table than the default. */
  readonly wantsNoTable: boolean;
}

export const FIRST_SETTINGS: ClientSettings = { initialWindow: 65_535, wantsNoTable: false };

/** Larger than any window. RFC 9113 §6.9.1 */
export const WINDOW_LIMIT = 2 ** 31;

const SETTING_BYTES = 6;
/** Settings in one frame; six are defined. */
const MAX_SETTINGS = 32;

const Setting = { tableBytes: 1, push: 2, maxStreams: 3, initialWindow: 4, maxFrame: 5, maxListBytes: 6 } as const;

/** Applies the payload of a SETTINGS frame. Returns the changed settings, or the error that ends the connection. */
export function applySettings(before: ClientSettings, payload: Uint8Array): ClientSettings | Http2ErrorCode {
  if (payload.length % SETTING_BYTES !== 0) return Http2ErrorCode.frameSize;
  if (payload.length > MAX_SETTINGS * SETTING_BYTES) return Http2ErrorCode.enhanceYourCalm;
  let { initialWindow, wantsNoTable } = before;
  for (let at = 0; at < payload.length; at += SETTING_BYTES) {
    const value = readUint32(payload, at + 2);
    switch (((payload[at] ?? 0) << 8) | (payload[at + 1] ?? 0)) {
      case Setting.tableBytes:
        if (value < FIRST_TABLE_BYTES) wantsNoTable = true;
        break;
      case Setting.push:
        if (value > 1) return Http2ErrorCode.protocol;
        break;
      case Setting.initialWindow:
        if (value >= WINDOW_LIMIT) return Http2ErrorCode.flowControl;
        initialWindow = value;
        break;
      case Setting.maxFrame:
        if (value < 2 ** 14 || value >= 2 ** 24) return Http2ErrorCode.protocol;
        break;
    }
  }
  return { initialWindow, wantsNoTable };
}

/** The default table size. RFC 9113 §6.5.2 */
const FIRST_TABLE_BYTES = 4096;

/** Formats our settings. `maxListBytes`: limit of the field list of one request. */
export function formatSettings({
  maxStreams,
  maxListBytes,
}: {
  readonly maxStreams: number;
  readonly maxListBytes: number;
}): Buffer {
  const said = [
    [Setting.maxStreams, maxStreams],
    [Setting.maxListBytes, maxListBytes],
  ] as const;
  const payload = Buffer.alloc(said.length * SETTING_BYTES);
  for (const [index, [setting, value]] of said.entries()) {
    payload[index * SETTING_BYTES + 1] = setting;
    writeUint32(payload, index * SETTING_BYTES + 2, value);
  }
  return payload;
}
