/** One request to an edge on a connection of its own. */
import { once } from 'node:events';
import { get } from 'node:http';

/** Throws unless it is answered with 200. */
export async function askFor(
  port: number,
  host: string,
  { path = '/', ...headers }: { readonly path?: string; readonly referer?: string } = {},
): Promise<void> {
  const request = get({ host: '127.0.0.1', port, path, headers: { host, ...headers }, agent: false });
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`the edge answered ${response.statusCode}`);
}
