/** A thread that sends messages over HTTP on several connections, as fast as they are answered or at a steady rate. */
import { connect } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface SmsLoad {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Absent: each connection asks again as soon as it is answered. */
  readonly perSecond?: number;
  /** Number of the first message; each message has the next one. */
  readonly firstNumber: number;
  /** Numbers that each request sends its text to. */
  readonly numbers: number;
  readonly to:
    | { readonly kind: 'causeway'; readonly accessToken: string; readonly appKey: string }
    | { readonly kind: 'kannel' };
}

export interface SmsLoaded {
  /** Messages. */
  readonly accepted: number;
  readonly refused: number;
  /** Latencies of accepted requests, in milliseconds from when they were due. */
  readonly latenciesMs: readonly number[];
}

export async function sendMessages(load: SmsLoad): Promise<SmsLoaded> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const { promise, resolve, reject } = Promise.withResolvers<SmsLoaded>();
  worker.once('message', resolve);
  worker.once('error', reject);
  const loaded = await promise;
  await worker.terminate();
  return loaded;
}

if (!isMainThread) parentPort?.postMessage(await run(workerData));

async function run(load: SmsLoad): Promise<SmsLoaded> {
  const { connections, seconds, perSecond, firstNumber, numbers } = load;
  const beginning = performance.now();
  const end = beginning + seconds * 1000;
  let sent = 0;
  let accepted = 0;
  const latenciesMs: number[] = [];
  const lane = async () => {
    const ask = await openConnection(load.port);
    for (;;) {
      const n = sent++;
      const dueAt = perSecond === undefined ? performance.now() : beginning + (n * 1000) / perSecond;
      if (Math.max(dueAt, performance.now()) >= end) break;
      const waitMs = dueAt - performance.now();
      if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const answer = await ask(requestFor(load, firstNumber + n * numbers));
      if (!isAccepted(answer)) continue;
      accepted += 1;
      latenciesMs.push(performance.now() - dueAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  return { accepted: accepted * numbers, refused: Math.max(0, sent - connections - accepted) * numbers, latenciesMs };
}

function isAccepted(answer: string): boolean {
  return answer.includes('"code":1000') || answer.includes('Accepted') || answer.includes('Queued');
}

function requestFor({ to, numbers }: SmsLoad, first: number): string {
  const mobiles = Array.from({ length: numbers }, (_, n) => `+${first + n}`);
  if (to.kind === 'kannel')
    return `GET /cgi-bin/sendsms?username=bench&password=bench&from=1069&to=${mobiles.map(encodeURIComponent).join('+')}&coding=2&charset=UTF-8&text=%E4%BD%A0%E5%A5%BD+bench HTTP/1.1\r\nHost: bench\r\n\r\n`;
  const body = JSON.stringify({
    access_token: to.accessToken,
    app_key: to.appKey,
    mobile: mobiles.join(','),
    content: '%E4%BD%A0%E5%A5%BD+bench',
    time: String(Date.now()),
  });
  const kind = numbers === 1 ? 'ordinary' : 'advertising';
  return `POST /api/sms/${kind} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** One request at a time; each answer must have a `Content-Length`. */
async function openConnection(port: number): Promise<(request: string) => Promise<string>> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  let onAnswer: ((answer: string) => void) | undefined;
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
    if (Number.isNaN(length)) throw new Error('an answer without a length');
    if (text.length < end + 4 + length) return;
    const answer = text;
    text = '';
    onAnswer?.(answer);
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  return (request) =>
    new Promise((resolve) => {
      onAnswer = resolve;
      socket.write(request);
    });
}
