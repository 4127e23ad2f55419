/**
 * The program. Started by a person it is a command of `cli/`; started by the supervisor (`main.ts part <name>`) it is one part
 * of the service. Each is loaded only where it runs, so an edge worker carries neither the database nor the command line.
 */
if (process.argv[2] === 'part') {
  const { runChild } = await import('#roles/process/child.ts');
  runChild({
    control: async () => (await import('#roles/control/control.ts')).startControl,
    'edge-feed': async () => (await import('#roles/edge/edge-feed.ts')).startEdgeFeed,
    'edge-worker': async () => (await import('#roles/edge/edge-worker.ts')).startEdgeWorker,
    live: async () => (await import('#roles/edge/live.ts')).startLive,
  });
} else {
  const { runCommandLine } = await import('./command.ts');
  await runCommandLine(import.meta.filename);
}

export {}; // a module, so that it may wait for what it loads
