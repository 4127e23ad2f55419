/** What tshark, which knows nothing of our codecs, makes of octets of SMPP or CMPP 3.0. Declare with `needs('tshark', 'text2pcap')`. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { obtain } from '../runner/needs.ts';
import { temporaryFolder } from '../temporary.ts';

/** One piece of a conversation. */
export interface Piece {
  readonly from: 'us' | 'carrier';
  readonly octets: Buffer;
}

/** A way to a carrier on `port` that keeps what passes. */
export async function recordConversation(
  t: Pick<TestContext, 'after'>,
  port: number,
): Promise<{ readonly port: number; readonly pieces: readonly Piece[] }> {
  const pieces: Piece[] = [];
  const server = createServer((us) => {
    const carrier = connect(port, '127.0.0.1');
    us.on('data', (octets: Buffer) => pieces.push({ from: 'us', octets }));
    carrier.on('data', (octets: Buffer) => pieces.push({ from: 'carrier', octets }));
    us.on('error', () => carrier.destroy()).pipe(carrier);
    carrier.on('error', () => us.destroy()).pipe(us);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, pieces };
}

/** The fields of each packet that passes `filter`; a field that comes several times has its values joined by commas. */
export function dissect(
  t: Pick<TestContext, 'after'>,
  pieces: readonly Piece[],
  filter: string,
  fields: readonly string[],
  protocol: 'smpp' | 'cmpp' = 'smpp',
): readonly Readonly<Record<string, string>>[] {
  const folder = temporaryFolder(t);
  const text = pieces.map(
    ({ from, octets }) => `${from === 'us' ? 'I' : 'O'}\n0000 ${octets.toString('hex').replace(/../g, '$& ')}\n`,
  );
  writeFileSync(join(folder, 'in.txt'), text.join(''));
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  run(obtain('text2pcap'), ['-q', '-D', '-4', '10.0.0.1,10.0.0.2', '-T', '40000,2775', 'in.txt', 'in.pcap']);
  const columns = fields.flatMap((field) => ['-e', field]);
  const lines = run(obtain('tshark'), [
    '-r',
    'in.pcap',
    '-d',
    `tcp.port==2775,${protocol}`,
    '-Y',
    filter,
    '-T',
    'fields',
    ...columns,
  ]);
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Object.fromEntries(line.split('\t').map((value, n) => [fields[n], value])));
}
