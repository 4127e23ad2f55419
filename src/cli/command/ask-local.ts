/** Asks a process of this machine's service over its socket in the data directory. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { CliError } from './context.ts';

/** Returns the answer; `undefined` if no process listens there. Throws `CliError` with the problem that it reports. */
export async function askLocal(socketPath: string, question: unknown): Promise<unknown> {
  const request = httpRequest({ socketPath, method: 'POST', path: '/' });
  request.end(JSON.stringify(question));
  try {
    const [response] = await once(request, 'response');
    const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString('utf8');
    if (response.statusCode !== 200) throw new CliError(text);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof CliError) throw error;
    return undefined;
  }
}
