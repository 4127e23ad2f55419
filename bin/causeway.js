#!/usr/bin/env node
/**
 * The command. Plain JavaScript without static imports, so that an old Node can parse it too: it finds Node 26 (this
 * one, or the one that `npm ci` brought) and hands over to src/main.ts, or says what is missing.
 */
const REQUIRED_MAJOR = 26;
/** What the dynamic loader ends with where a library is missing; the service never does. */
const CANNOT_RUN = 127;
const WHAT_IT_NEEDS = `It needs glibc and libatomic: on Debian or Ubuntu, apt-get install libatomic1. Or install Node ${REQUIRED_MAJOR} or later.`;
/** Those that end a process by default. The service decides what each means to it (src/lib/signals.ts). */
const SIGNALS = [
  'SIGALRM',
  'SIGHUP',
  'SIGINT',
  'SIGIO',
  'SIGPROF',
  'SIGPWR',
  'SIGQUIT',
  'SIGSTKFLT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGXCPU',
  'SIGXFSZ',
];

// Node would open a debugger on 127.0.0.1:9229, which any local user may enter.
process.on('SIGUSR1', () => {});

import('node:fs')
  .then((fs) => {
    const root = fs.realpathSync(process.argv[1]).replace(/[\\/]bin[\\/][^\\/]*$/, '');
    const main = `${root}/src/main.ts`;
    if (isRecent()) return import('node:url').then((url) => import(url.pathToFileURL(main).href));
    const bundled = `${root}/node_modules/node-${process.platform}-${process.arch}/bin/node`;
    if (!fs.existsSync(bundled)) return refuse(`Run "npm ci" in ${root} to get it`);
    return import('node:child_process').then((childProcess) => handOver(childProcess.spawn, bundled, main));
  })
  .catch((error) => (isRecent() ? fail(error.stack) : refuse(error.message)));

function isRecent() {
  return parseInt(process.versions.node, 10) >= REQUIRED_MAJOR;
}

function refuse(advice) {
  const here = `this is Node ${process.versions.node} for ${process.platform} ${process.arch}`;
  fail(`causeway needs Node ${REQUIRED_MAJOR} or later, and ${here}.\n${advice}, or install Node ${REQUIRED_MAJOR}.`);
}

function fail(message, exitCode = 1) {
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
}

/** The channel tells the service when this process is gone, even when it was killed. */
function handOver(spawn, node, main) {
  // Sockets that systemd has passed. sd_listen_fds(3)
  const sockets = Number(process.env.LISTEN_PID) === process.pid ? Number(process.env.LISTEN_FDS) || 0 : 0;
  const child = spawn(node, ['--disable-sigusr1', main, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', ...Array.from({ length: sockets }, (_, index) => 3 + index), 'ipc'],
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => fail(`causeway cannot run ${node}: ${error.message}.\n${WHAT_IT_NEEDS}`));
  child.on('exit', (code, signal) => {
    if (code === CANNOT_RUN) return fail(`causeway cannot run ${node}.\n${WHAT_IT_NEEDS}`, code);
    if (signal === null) return process.exit(code);
    for (const name of SIGNALS) process.removeAllListeners(name);
    return process.kill(process.pid, signal);
  });
}
