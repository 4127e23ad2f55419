/**
 * Node's own `https` as the bench's third rival: what a program costs that does nothing but answer, with our settings of TLS.
 * `node node-https.ts <folder> <port>`: the pair is `cert.pem` and `key.pem`, and `/large` is asked for the larger body.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';

const [folder = '', port = ''] = process.argv.slice(2);
const SMALL = Buffer.alloc(1024, 'x');
const LARGE = Buffer.alloc(100 * 1024, 'x');
const pair = { cert: readFileSync(join(folder, 'cert.pem')), key: readFileSync(join(folder, 'key.pem')) };

createServer({ ...pair, minVersion: 'TLSv1.2', honorCipherOrder: false }, ({ url }, response) => {
  const body = url === '/small' ? SMALL : LARGE;
  const length = ['content-length', String(body.length)];
  response.writeHead(200, ['content-type', 'text/html', 'cache-control', 'max-age=36000', ...length]).end(body);
}).listen({ host: '127.0.0.1', port: Number(port), backlog: 1024 }, () => process.send?.('ready'));
