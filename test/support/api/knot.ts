/** Knot, Debian's name server, with zones of a test's own. Declare the test with `needs('knot')`. */
import { spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { obtain } from '../runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';

/** Zones by name, each as its records below the SOA. Returns `address:port` when it answers. */
export async function startKnot(t: Cleanup, zones: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  for (const [zone, records] of Object.entries(zones))
    writeFileSync(
      join(folder, `${zone}.zone`),
      [
        `$ORIGIN ${zone}.`,
        '$TTL 1',
        '@ SOA ns hostmaster 1 60 60 60 1',
        '@ NS ns',
        'ns A 127.0.0.1',
        ...records,
        '',
      ].join('\n'),
    );
  const list = Object.keys(zones).map(
    (zone) => `  - domain: ${zone}\n    file: ${zone}.zone\n    storage: "${folder}"`,
  );
  writeFileSync(
    join(folder, 'knot.conf'),
    `server:
    listen: 127.0.0.1@${port}
    rundir: "${folder}"
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: "${folder}"
zone:
${list.join('\n')}
`,
  );
  const server = spawn(obtain('knot'), ['--config', join(folder, 'knot.conf')], { stdio: 'ignore' });
  t.after(async () => {
    const exit = once(server, 'exit');
    server.kill('SIGKILL');
    await exit;
  });
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const [first = ''] = Object.keys(zones);
  await eventually('Knot answers', async () => (await resolver.resolve4(`ns.${first}`)).length > 0);
  return `127.0.0.1:${port}`;
}
