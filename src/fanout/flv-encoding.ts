/** A broadcast as an FLV file without end: over HTTP, over WebSocket, and from the live process to a worker. */
import type { Encoding } from './encoding.ts';
import { flvHeader, writeFlvTag } from './media/flv.ts';

export const FLV_ENCODING: Encoding = { name: 'flv', begin: flvHeader, encode: writeFlvTag };
