import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import pg from 'pg';
import { eventually } from '../eventually.ts';
import { needs } from './needs.ts';

test('the cluster of a run that is killed ends, and leaves nothing behind', needs('postgresPrograms'), async (t) => {
  const program = `import { startPostgres } from ${JSON.stringify(import.meta.resolve('./start-postgres.ts'))};
    console.log((await startPostgres())?.url); setInterval(() => {}, 1000);`;
  const runner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => runner.kill('SIGKILL'));
  const [url]: string[] = await once(createInterface(runner.stdout), 'line');
  const client = new pg.Client({ connectionString: url ?? '' });
  client.on('error', () => {}); // the cluster ends beneath it
  const isCut = new Promise((resolve) => client.once('end', resolve));
  await client.connect();
  const { rows } = await client.query('show data_directory');
  const folder: string = rows[0].data_directory;
  assert.ok(existsSync(folder));
  runner.kill('SIGKILL');
  await isCut;
  await eventually('its folder is gone', () => !existsSync(folder));
});
