/**
 * The origin and the client of `passManyKeys`, each a process of its own: `many-keys.ts origin`, `many-keys.ts client <edge's
 * port> <keys>`. The origin answers every path with 1 KiB that can be stored; the client asks for each path once.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';

const BODY_BYTES = 1024;
const CONNECTIONS = 32;
const HOST = 'www.example.com';
const [, , role = '', edgePort = '', keys = ''] = process.argv;

if (role === 'origin') {
  const body = Buffer.alloc(BODY_BYTES, 'x');
  const head = { 'content-length': String(BODY_BYTES), 'content-type': 'image/jpeg', 'cache-control': 'max-age=3600' };
  const server = createServer((_request, response) => response.writeHead(200, head).end(body));
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    tell(typeof address === 'object' && address !== null ? address.port : 0);
  });
} else {
  const total = Number(keys);
  let next = 0;
  let whole = 0;
  const takeKey = () => (next < total ? next++ : undefined);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => askForKeys(takeKey, () => void whole++)));
  tell(whole);
  process.disconnect?.();
}

async function askForKeys(takeKey: () => number | undefined, onWhole: () => void): Promise<void> {
  for (let key = takeKey(); key !== undefined; ) key = await askOnConnection(key, takeKey, onWhole);
}

/** One request after the other; gives the key that was left when the edge ended the connection. */
async function askOnConnection(
  first: number,
  takeKey: () => number | undefined,
  onWhole: () => void,
): Promise<number | undefined> {
  const socket = connect({ host: '127.0.0.1', port: Number(edgePort), noDelay: true });
  let received = '';
  let asked: number | undefined = first;
  const ask = () => {
    if (asked === undefined) socket.end();
    else socket.write(`GET /images/object-${asked}.jpg HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
  };
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd === -1 || received.length < headEnd + 4 + BODY_BYTES) return;
    if (received.startsWith('HTTP/1.1 200 ')) onWhole();
    received = '';
    asked = takeKey();
    ask();
  });
  ask();
  await once(socket, 'close');
  return asked;
}

function tell(message: number): void {
  if (process.send === undefined) throw new Error('this program is started by a test');
  process.send(message);
}
