/** Pauses reading from a connection of node:http, which otherwise resumes reading after each request. */
import type { Socket } from 'node:net';

export interface HeldReading {
  /** Reading is paused. */
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
