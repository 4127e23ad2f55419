/**
 * The encoding of a broadcast as an endless FLV file: over HTTP, over WebSocket, and from the live process to workers.
 */
import type { Encoding } from './encoding.ts';
import { flvHeader, writeFlvTag } from './media/flv.ts';

export const FLV_ENCODING: Encoding = { name: 'flv', begin: flvHeader, encode: writeFlvTag };
