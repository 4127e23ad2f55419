/**
 * A carrier for figures: takes every bind and every message, answers at once, and sends no receipts. It reads no more of a
 * message than its head, so that both sides of a comparison meet the same, and a cheap, other end.
 */
import { createServer, type Socket } from 'node:net';

const HEAD_BYTES = 16;
const BINDS = [0x1, 0x2, 0x9];
const SUBMIT_SM = 0x4;
const UNBIND = 0x6;
const ENQUIRE_LINK = 0x15;
const RESPONSE = 0x80000000;

let taken = 0;

const server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : 0);
});
// Each line on standard input is a question: how many so far?
process.stdin.on('data', () => console.log(taken)).on('end', () => process.exit(0));

function serve(socket: Socket): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const answers: Buffer[] = [];
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32BE(at);
      if (bytes.length - at < length) break;
      const answer = answerTo(bytes.readUInt32BE(at + 4), bytes.readUInt32BE(at + 12));
      if (answer !== undefined) answers.push(answer);
      at += length;
    }
    rest = bytes.subarray(at);
    if (answers.length > 0) socket.write(Buffer.concat(answers));
  });
}

function answerTo(command: number, sequence: number): Buffer | undefined {
  if (BINDS.includes(command)) return pdu(command, sequence, 'bench\0');
  if (command === SUBMIT_SM) {
    taken += 1;
    return pdu(command, sequence, `${taken.toString(16)}\0`);
  }
  return command === ENQUIRE_LINK || command === UNBIND ? pdu(command, sequence, '') : undefined;
}

function pdu(command: number, sequence: number, body: string): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + body.length);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE((command | RESPONSE) >>> 0, 4);
  bytes.writeUInt32BE(sequence, 12);
  bytes.write(body, HEAD_BYTES, 'latin1');
  return bytes;
}
