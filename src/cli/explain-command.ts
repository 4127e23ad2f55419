/** `causeway explain`: what would become of a viewer's request, asked of an edge worker of this machine. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { isIP } from 'node:net';
import { Command } from 'commander';
import { type CliContext, CliError } from './context.ts';
import { addSettings, addWhole, givenSettings, listOption, type Options, textOption } from './options.ts';
import { formatTable } from './output.ts';

/** Answer of the worker. */
interface Explanation {
  readonly steps: readonly { readonly stage: string; readonly found: string }[];
  readonly xCache: string;
  readonly asksOrigin: boolean;
}

export function explainCommand(context: CliContext): Command {
  return addSettings(new Command('explain'), context, ['data-dir'])
    .argument('<url>', 'as a viewer would ask for it')
    .option('--method <method>', 'of the request', 'GET')
    .option(
      '--header <line>',
      'a header field of the request, as in "Referer: https://example.com/"; may be given several times',
      addWhole,
    )
    .option('--client <address>', 'the IP address that the viewer has', '127.0.0.1')
    .option('--json', 'print the answer as JSON')
    .description("tell what an edge of this machine would make of a viewer's request, without asking an origin")
    .action((url: string, options: Options) => explain(context, url, options));
}

async function explain(context: CliContext, url: string, options: Options): Promise<void> {
  const [, scheme, host = '', target = ''] = /^(https?):\/\/([^/?#]+)([^#]*)/i.exec(url) ?? [];
  if (scheme === undefined) throw new CliError('expected a URL that begins with http:// or https://');
  const clientAddress = textOption(options, 'client') ?? '';
  // Text that is not an address would be on no list, and seem to be let in.
  if (isIP(clientAddress) === 0)
    throw new CliError(`expected an IP address as client, found ${JSON.stringify(clientAddress)}`);
  const headers = listOption(options, 'header').flatMap(splitHeader);
  if (headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'host'))
    throw new CliError('the host is that of the URL: leave --header "Host: …" out, and ask for the URL with that host');
  const { dataDir } = context.loadSettings(givenSettings(context, options));
  const { xCache, steps, asksOrigin } = await ask(context.findWorkers(dataDir), dataDir, {
    method: textOption(options, 'method') ?? 'GET',
    scheme: scheme.toLowerCase(),
    host,
    target: target.startsWith('/') ? target : `/${target}`,
    headers,
    clientAddress,
  });
  if (options['json'] === true) context.print(JSON.stringify({ steps, xCache, asksOrigin }, undefined, 2));
  else {
    const rows = [...steps.map(({ stage, found }) => [stage, found]), ['X-Cache', describeMark(xCache, asksOrigin)]];
    for (const line of formatTable(rows)) context.print(line);
  }
}

function describeMark(xCache: string, asksOrigin: boolean): string {
  if (xCache === '') return '- (no answer: the TLS handshake fails)';
  return xCache + (asksOrigin ? hintOf(xCache) : '');
}

/** What only the origin's answer decides. */
function hintOf(xCache: string): string {
  switch (xCache) {
    case 'MISS':
      return ' (an origin is asked; with the reason behind it where its answer is not stored)';
    case 'REVALIDATED':
      return ' (an origin is asked; MISS where it has another answer than the stored one)';
    default:
      return ' (an origin is asked)';
  }
}

function splitHeader(line: string): readonly string[] {
  const colon = line.indexOf(':');
  if (colon < 1) throw new CliError(`expected a header as "Name: value", found ${JSON.stringify(line)}`);
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/** The first worker that answers; those that were killed leave their sockets behind. */
async function ask(sockets: readonly string[], dataDir: string, question: unknown): Promise<Explanation> {
  for (const socketPath of sockets) {
    const request = httpRequest({ socketPath, method: 'POST', path: '/' });
    request.end(JSON.stringify(question));
    try {
      const [response] = await once(request, 'response');
      const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString('utf8');
      if (response.statusCode !== 200) throw new CliError(text);
      return JSON.parse(text);
    } catch (error) {
      if (error instanceof CliError) throw error;
      // nobody listens there any more: the next one
    }
  }
  throw new CliError(`no edge runs from ${dataDir}: start it with "causeway serve", or name another with --data-dir`);
}
