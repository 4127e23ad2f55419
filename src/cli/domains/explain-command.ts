/** `causeway explain`: what would become of a viewer's request, asked of an edge worker of this machine. */
import { isIP } from 'node:net';
import { Command } from 'commander';
import { askLocal } from '../command/ask-local.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addSettings, addWhole, givenSettings, listOption, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';

/** Answer of the worker. */
interface Explanation {
  readonly steps: readonly { readonly stage: string; readonly found: string }[];
  readonly xCache: string;
  readonly asksOrigin: boolean;
}

export function explainCommand(context: CliContext): Command {
  return addSettings(new Command('explain'), context, ['data-dir'])
    .argument('<url>', 'URL as a viewer would request it')
    .option('--method <method>', 'method of the request', 'GET')
    .option(
      '--header <line>',
      'a header field of the request, such as "Referer: https://example.com/"; may be repeated',
      addWhole,
    )
    .option('--client <address>', 'IP address of the viewer', '127.0.0.1')
    .option('--json', 'print the answer as JSON')
    .description("show how an edge on this machine would handle a viewer's request, without contacting an origin")
    .action((url: string, options: Options) => explain(context, url, options));
}

async function explain(context: CliContext, url: string, options: Options): Promise<void> {
  const [, scheme, host = '', target = ''] = /^(https?):\/\/([^/?#]+)([^#]*)/i.exec(url) ?? [];
  if (scheme === undefined)
    throw new CliError(
      `<url> is invalid: expected a URL that begins with http:// or https://; found ${JSON.stringify(url)}`,
    );
  const clientAddress = textOption(options, 'client') ?? '';
  // Text that is not an address would be on no list, and seem to be let in.
  if (isIP(clientAddress) === 0)
    throw new CliError(`--client: expected an IP address; found ${JSON.stringify(clientAddress)}`);
  const headers = listOption(options, 'header').flatMap(splitHeader);
  if (headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'host'))
    throw new CliError('--header: the host is taken from the URL; omit "Host: …" and put the host into the URL');
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
      return ' (an origin is contacted; a reason follows if its answer is not stored)';
    case 'REVALIDATED':
      return ' (an origin is contacted; MISS if the stored answer is out of date)';
    default:
      return ' (an origin is contacted)';
  }
}

function splitHeader(line: string): readonly string[] {
  const colon = line.indexOf(':');
  if (colon < 1) throw new CliError(`--header: expected "Name: value"; found ${JSON.stringify(line)}`);
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/** Asks the first worker that answers; killed ones leave their sockets behind. */
async function ask(sockets: readonly string[], dataDir: string, question: unknown): Promise<Explanation> {
  for (const socketPath of sockets) {
    const answer = await askLocal(socketPath, question);
    if (answer !== undefined) return answer as Explanation; // a worker of this version
  }
  throw new CliError(
    `no edge is running from ${dataDir}; start it with "causeway serve", or specify another with --data-dir`,
  );
}
