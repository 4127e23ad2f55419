/** Finds the service that a command speaks to and the token that it speaks with. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '#client/client.ts';
import { type CliContext, CliError, type CliSettings, type GivenSettings, type LocalControl } from './context.ts';

/** A service that has just been started is not in the data directory yet. */
const START_LIMIT_MS = 5000;
const START_POLL_MS = 100;

/** For customers' operations: a service that runs, with the token of the settings or else the first access token. */
export function connectCustomer(context: CliContext, given: GivenSettings): Client {
  const settings = context.loadSettings(given);
  if (settings.url !== undefined) return clientOf({ url: settings.url }, mustHaveToken(settings.token));
  const control = context.findControl(settings.dataDir);
  if (control === undefined) {
    throw new CliError(
      `no service runs from ${settings.dataDir}: start it with "causeway serve", or name one with --url or --data-dir`,
    );
  }
  return clientOf(control, mustHaveToken(settings.token ?? readFirstToken(settings)));
}

/**
 * For operators' operations, as the operator of this machine or with a token: calls `work` with a client. When no service
 * runs from the data directory, control runs here for as long as `work` takes.
 */
export async function withOperator(
  context: CliContext,
  given: GivenSettings,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const settings = context.loadSettings(given);
  if (settings.url !== undefined) return work(clientOf({ url: settings.url }, mustHaveToken(settings.token)));
  const offline = await context.openOffline(given);
  if (offline.kind === 'control') {
    await using control = offline.control;
    return await work(clientOf(control, control.localSecret));
  }
  const control = await waitForControl(context, settings.dataDir);
  return work(clientOf(control, control.localSecret));
}

async function waitForControl(context: CliContext, dataDir: string): Promise<LocalControl> {
  for (let waitedMs = 0; waitedMs < START_LIMIT_MS; waitedMs += START_POLL_MS) {
    const control = context.findControl(dataDir);
    if (control !== undefined) return control;
    await delay(START_POLL_MS);
  }
  throw new CliError(`the service that runs from ${dataDir} has no control, or has not finished starting`);
}

function clientOf({ url, certificate }: Pick<LocalControl, 'url' | 'certificate'>, accessToken: string): Client {
  return createClient({
    baseUrl: url,
    accessToken,
    locale: 'en',
    ...(certificate !== undefined && { fetch: fetchTrusting(certificate) }),
  });
}

/** The certificate is known from the data directory, so its name need not fit the address. */
function fetchTrusting(certificate: string): typeof fetch {
  const send = async (input: string, init: object) => {
    const { Agent, fetch: fetchWith } = await import('undici'); // costs as much as all the rest of a command
    const dispatcher = new Agent({ connect: { ca: certificate, checkServerIdentity: () => undefined } });
    return fetchWith(input, { ...init, dispatcher });
  };
  // Node's `fetch` is this same implementation; only the declarations differ.
  return send as unknown as typeof fetch;
}

function readFirstToken({ firstTokenFile }: CliSettings): string | undefined {
  try {
    return readFileSync(firstTokenFile, 'utf8').trim();
  } catch {
    return undefined; // moved away, as it should be in time
  }
}

function mustHaveToken(token: string | undefined): string {
  if (token === undefined) throw new CliError('an access token is needed: set CAUSEWAY_TOKEN or --token-file');
  return token;
}
