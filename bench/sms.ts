/**
 * Durable HTTP to SMPP: this service on both engines beside Kannel's bearerbox and smsbox with their spool store, before the
 * same carrier, one after the other in each of several rounds: with one number a request, then with a hundred of them; last, how long accepting one takes at half of its rate.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseTargets } from './support/databases.ts';
import { type Figure, medians, showFigure, showRatios } from './support/figures.ts';
import { startKannel } from './support/kannel.ts';
import { formatMs, percentiles } from './support/percentiles.ts';
import { type SmsLoad, sendMessages } from './support/sms-load.ts';
import { type Smsc, startSmsc, startSmsWorld } from './support/sms-world.ts';

const ROUNDS = Number(process.argv[3] ?? 5);
const SECONDS = Number(process.argv[4] ?? 6);
const CONNECTIONS = Number(process.argv[5] ?? 64);
const WINDOW = 100;
const KANNEL = 'Kannel with its spool';
const KANNEL_PORT = 28_613;
const DRAIN_LIMIT_MS = 120_000;

interface Contender {
  readonly name: string;
  readonly smsc: Smsc;
  readonly load: Pick<SmsLoad, 'port' | 'to'>;
  /** Processor time of its processes since their start. */
  cpuMs(): number;
}

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
await using stack = new AsyncDisposableStack();
stack.defer(() => rmSync(folder, { recursive: true, force: true }));
const contenders: Contender[] = [];
for (const target of await databaseTargets(folder)) {
  stack.use(target);
  const smsc = stack.use(await startSmsc());
  const world = stack.use(await startSmsWorld(folder, target, { smscPort: smsc.port, window: WINDOW }));
  const to = { kind: 'causeway', accessToken: world.accessToken, appKey: world.appKey } as const;
  const port = Number(new URL(world.service.controlUrl).port);
  contenders.push({
    name: `causeway, ${target.engine}`,
    smsc,
    load: { port, to },
    cpuMs: () => world.service.cpuMs('control'),
  });
}
if (existsSync('/usr/sbin/bearerbox')) {
  const smsc = stack.use(await startSmsc());
  const options = { smscPort: smsc.port, window: WINDOW, firstPort: KANNEL_PORT };
  const kannel = stack.use(await startKannel(join(folder, 'kannel'), options));
  contenders.push({
    name: KANNEL,
    smsc,
    load: { port: kannel.port, to: { kind: 'kannel' } },
    cpuMs: kannel.cpuMs,
  });
}

let firstNumber = 8_613_000_000_000;
const figures = await raceAll(1);
await raceAll(100);
for (const [contender, { perSecond }] of figures) await pace(contender, Math.round(perSecond / 2));

/** `numbers`: of each request. Gives the medians of the rounds. */
async function raceAll(numbers: number): Promise<Map<Contender, Figure>> {
  const rounds = new Map(contenders.map((contender): [Contender, Figure[]] => [contender, []]));
  for (let round = 1; round <= ROUNDS; round += 1)
    for (const [contender, ofRounds] of rounds) ofRounds.push(await race(contender, round, numbers));
  const figures = new Map([...rounds].map(([contender, ofRounds]) => [contender, medians(ofRounds)]));
  const kannel = [...figures].find(([{ name }]) => name === KANNEL)?.[1];
  for (const [{ name }, figure] of figures) {
    const ratios = kannel === undefined || name === KANNEL ? '' : `: ${showRatios(figure, kannel, KANNEL)}`;
    console.log(`${name}, ${numbers} a request, medians of ${ROUNDS}: ${showFigure(figure)}${ratios}`);
  }
  return figures;
}

/** Measures from the first request until the carrier has the last message. */
async function race({ name, smsc, load, cpuMs }: Contender, round: number, numbers: number): Promise<Figure> {
  execFileSync('sync'); // what the one before has left to be written is not for this one to wait for
  const before = await smsc.count();
  const [beginning, cpu] = [performance.now(), cpuMs()];
  const { accepted, refused } = await sendMessages({ ...load, ...settings(), numbers, seconds: SECONDS });
  while ((await smsc.count()) - before < accepted && performance.now() - beginning < DRAIN_LIMIT_MS) await delay(10);
  const tookSeconds = (performance.now() - beginning) / 1000;
  const figure = {
    perSecond: ((await smsc.count()) - before) / tookSeconds,
    cpuMicros: ((cpuMs() - cpu) / accepted) * 1000,
  };
  const all = `all there after ${tookSeconds.toFixed(1)} s`;
  console.log(`round ${round}, ${name}: ${accepted} accepted, ${refused} refused, ${all}, ${showFigure(figure)}`);
  return figure;
}

async function pace({ name, load }: Contender, perSecond: number): Promise<void> {
  const { latenciesMs } = await sendMessages({ ...load, ...settings(), numbers: 1, seconds: SECONDS, perSecond });
  console.log(`${name}, at ${perSecond} a second: accepted in ${formatMs(percentiles(latenciesMs))}`);
}

function settings() {
  firstNumber += 10_000_000;
  return { connections: CONNECTIONS, firstNumber };
}
