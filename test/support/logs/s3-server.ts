/** s3rver, a server of S3's interface, as a process of the test's own. It looks at whose a signature is, not at its value. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { S3Place } from '../../../src/logs/store/s3.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary.ts';

/** Starts a server with an empty bucket. It ends with the test. */
export async function startS3Server(t: Pick<TestContext, 'after'>): Promise<S3Place> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const options = [
    '--silent',
    '-a',
    '127.0.0.1',
    '-p',
    String(port),
    '-d',
    temporaryFolder(t),
    '--configure-bucket',
    'logs',
  ];
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve('s3rver/bin/s3rver.js')), ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await eventually('the S3 server answers', async () => {
    await (await fetch(endpoint)).arrayBuffer();
    return true;
  });
  // Its own well-known pair.
  const credentials = { accessKey: 'S3RVER', secretKey: 'S3RVER' };
  return { endpoint, region: 'us-east-1', bucket: 'logs', prefix: 'access', credentials };
}
