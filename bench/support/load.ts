/** A thread that asks for one thing over and over, on several connections, and counts the answers. */
import { connect } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Load {
  readonly port: number;
  /** Request line and header section, as they are sent. */
  readonly request: string;
  readonly connections: number;
  readonly durationMs: number;
}

/** Whole answers a second; each must have a `Content-Length`. */
export async function measureRate(load: Load): Promise<number> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.once('message', resolve);
  worker.once('error', reject);
  const answers = await promise;
  await worker.terminate();
  return (answers / load.durationMs) * 1000;
}

if (!isMainThread) run(workerData);

function run({ port, request, connections, durationMs }: Load): void {
  let answers = 0;
  for (let i = 0; i < connections; i++) {
    ask(port, request, () => answers++);
  }
  setTimeout(() => parentPort?.postMessage(answers), durationMs);
}

function ask(port: number, request: string, onAnswer: () => void): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request));
  /** Bytes left of the answer that is arriving; 0: its head has not arrived. */
  let leftBytes = 0;
  let head = '';
  socket.on('data', (chunk) => {
    if (leftBytes === 0) {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      leftBytes = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]) + end + 4 - head.length;
      head = '';
    } else {
      leftBytes -= chunk.length;
    }
    if (leftBytes > 0) return;
    if (leftBytes < 0 || Number.isNaN(leftBytes)) throw new Error('an answer without a length');
    onAnswer();
    socket.write(request);
  });
}
