/** Connections to control that we read ourselves: taken before node:http has them, looked after, and ended with the service. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConversationOptions } from '#lib/byte-conversation.ts';
import { createDirectWrites } from '#lib/node-internals/direct-write.ts';
import { createHttpReader, type HttpReaderOptions } from '#lib/node-internals/http-reader.ts';
import { createSharedReading } from '#lib/node-internals/shared-reading.ts';
import { createSweptConnections } from '#lib/swept.ts';
import { endUnknown } from '../../calls/requester.ts';
import { BareConnection, type BareParts } from './bare-connection.ts';

export interface BareConnections {
  /** Ends idle connections at once, the others after their answer. */
  close(): void;
  cutAll(): void;
}

const SWEEP_MS = 1_000;
const NOTHING = Buffer.alloc(0);

/** All that `server` accepts from now on. `reading`: how node:http reads what is left to it. */
export function readBare(
  server: Server,
  parts: Omit<BareParts, 'conversation' | 'openDirectWrite' | 'giveAway' | 'onLeft'>,
  reading: HttpReaderOptions = {},
): BareConnections {
  const giveAway = createHttpReader(server, reading);
  const open = createSweptConnections<BareConnection>(SWEEP_MS);
  let isClosing = false;
  const shared: BareParts = {
    ...parts,
    conversation: conversationOptions(() => isClosing),
    openDirectWrite: createDirectWrites(),
    giveAway,
    onLeft: open.delete,
  };
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    endUnknown(socket);
    if (socket.destroyed) return;
    if (isClosing) giveAway(socket, NOTHING);
    else open.add(new BareConnection(socket, shared));
  });
  return {
    close: () => {
      isClosing = true;
      open.close();
    },
    cutAll: open.cutAll,
  };
}

/** Other connections have their turn after each call, since a call may take long. */
export function conversationOptions(isClosing: () => boolean): ConversationOptions {
  return { reading: createSharedReading(), answersInTurn: 1, patienceMs: 1_000, lingerMs: 0, endIdleMs: 0, isClosing };
}
