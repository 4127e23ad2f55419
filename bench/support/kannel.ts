/** Kannel's bearerbox and smsbox with their spool store, before one SMPP carrier, for a comparison. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMsOf } from './service.ts';

export interface Kannel extends AsyncDisposable {
  /** Port of its HTTP interface. */
  readonly port: number;
  /** Processor time of both boxes. */
  cpuMs(): number;
}

const START_LIMIT_MS = 10_000;

/** `window`: messages that may wait for the carrier's answer. Ports from `firstPort` on are used. */
export async function startKannel(
  folder: string,
  options: { readonly smscPort: number; readonly window: number; readonly firstPort: number },
): Promise<Kannel> {
  const spool = join(folder, 'spool');
  mkdirSync(spool, { recursive: true });
  const file = join(folder, 'kannel.conf');
  writeFileSync(file, configuration(spool, options));
  const [, box, port] = portsFrom(options.firstPort);
  const bearerbox = spawn('/usr/sbin/bearerbox', ['-v', '4', file], { stdio: 'ignore' });
  await untilListening(box);
  const smsbox = spawn('/usr/sbin/smsbox', ['-v', '4', file], { stdio: 'ignore' });
  await untilListening(port);
  return {
    port,
    cpuMs: () => [bearerbox, smsbox].reduce((sum, { pid }) => sum + cpuMsOf(String(pid)), 0),
    async [Symbol.asyncDispose]() {
      await end(smsbox);
      await end(bearerbox);
    },
  };
}

function portsFrom(first: number): readonly [number, number, number] {
  return [first, first + 1, first + 2];
}

function configuration(
  spool: string,
  { smscPort, window, firstPort }: { readonly smscPort: number; readonly window: number; readonly firstPort: number },
): string {
  const [admin, box, port] = portsFrom(firstPort);
  return `
group = core
admin-port = ${admin}
admin-password = bench
admin-interface = 127.0.0.1
smsbox-port = ${box}
smsbox-interface = 127.0.0.1
store-type = spool
store-location = ${spool}
sms-incoming-queue-limit = 1000000
sms-outgoing-queue-limit = 1000000

group = smsc
smsc = smpp
smsc-id = bench
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = bench
smsc-password = bench
system-type = ""
max-pending-submits = ${window}

group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = ${box}
sendsms-port = ${port}
sendsms-interface = 127.0.0.1

group = sendsms-user
username = bench
password = bench
max-messages = 10
concatenation = true
`;
}

async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await isListening(port))) {
    if (performance.now() > deadline) throw new Error(`nothing listens on port ${port}`);
    await delay(50);
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await once(child, 'exit');
  clearTimeout(timer);
}
