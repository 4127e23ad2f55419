/** Reading that waits, of a connection that node:http reads: which reads on by itself behind each request. */
import type { Socket } from 'node:net';

export interface HeldReading {
  /** Nothing is read from it. */
  isHeld: boolean;
}

export function holdReading(socket: Socket, connection: HeldReading): void {
  if (connection.isHeld) return;
  connection.isHeld = true;
  socket.on('resume', pauseAgain);
  socket.pause();
}

export function readOn(socket: Socket, connection: HeldReading): void {
  if (!connection.isHeld) return;
  connection.isHeld = false;
  socket.off('resume', pauseAgain);
  socket.resume();
}

function pauseAgain(this: Socket): void {
  this.pause();
}
