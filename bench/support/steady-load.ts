/** A thread that asks at a steady rate, whatever the answers take, and notes how long each took. */
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { timed } from './percentiles.ts';

export interface SteadyLoad {
  readonly port: number;
  /** One after the other. */
  readonly hosts: readonly string[];
  readonly seconds: number;
  readonly perSecond: number;
  /** An answer must be 200 and have so many. */
  readonly bodyBytes: number;
}

export interface Asked {
  readonly latenciesMs: readonly number[];
  readonly failed: number;
}

export async function askSteadily(load: SteadyLoad): Promise<Asked> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const { promise, resolve, reject } = Promise.withResolvers<Asked>();
  worker.once('message', resolve);
  worker.once('error', reject);
  const asked = await promise;
  await worker.terminate();
  return asked;
}

if (!isMainThread) parentPort?.postMessage(await ask(workerData));

async function ask({ port, hosts, seconds, perSecond, bodyBytes }: SteadyLoad): Promise<Asked> {
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const latenciesMs: number[] = [];
  let failed = 0;
  const under: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let i = 0; i < seconds * perSecond; i++) {
    const dueMs = startedAt + (i * 1000) / perSecond - performance.now();
    if (dueMs > 1) await delay(dueMs);
    const host = hosts[i % hosts.length] ?? '';
    under.push(
      timed(() => askOnce(port, host, agent, bodyBytes)).then(
        (ms) => void latenciesMs.push(ms),
        () => void failed++,
      ),
    );
  }
  await Promise.all(under);
  agent.destroy();
  return { latenciesMs, failed };
}

async function askOnce(port: number, host: string, agent: Agent, bodyBytes: number): Promise<void> {
  const request = get({ host: '127.0.0.1', port, headers: { host }, agent });
  const [response] = await once(request, 'response');
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  if (response.statusCode !== 200 || bytes !== bodyBytes) throw new Error(`answered ${response.statusCode}`);
}
