/** Finds the service that a command speaks to and the token that it speaks with. */
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#client/client.ts';
import { ClientError } from '#client/client-error.ts';
import type { Client } from '#client/transport.ts';
import { isLoopback } from '#lib/listen-address.ts';
import { type CliContext, CliError, type CliSettings, type GivenSettings, type LocalControl } from './context.ts';

/** A service that has just been started cannot be found yet; another command may hold the data directory. */
const START_LIMIT_MS = 5000;
const START_POLL_MS = 100;
/** All that a command waits, in sum, for a service that says it comes too fast. */
const MAX_PATIENCE_SECONDS = 10;

/** A client, and how other addresses of its service are asked: with the same trust, without the token. */
interface OpenedService {
  readonly client: Client;
  readonly get: (url: string) => Promise<Response>;
}

/** A service that runs, with the token of the settings or else the first access token. */
export function connectCustomer(context: CliContext, given: GivenSettings): Client {
  return openCustomer(context, given).client;
}

export function openCustomer(context: CliContext, given: GivenSettings): OpenedService {
  const settings = context.loadSettings(given);
  if (settings.url !== undefined)
    return { client: remoteClient(settings.url, settings.token), get: (url) => fetch(url) };
  const control = context.findControl(settings.dataDir);
  if (control === undefined) {
    throw new CliError(
      `no service is running from ${settings.dataDir}; start it with "causeway serve", or specify one with --url or --data-dir`,
    );
  }
  const get = fetchOf(control) ?? fetch;
  const client = localClientOf(control, mustHaveToken(settings.token ?? readFirstToken(settings)));
  return { client, get: (url) => get(url) };
}

/**
 * Calls `work` with a client for operators' operations, as the operator of this machine or with a token. When no
 * service runs from the data directory, control runs here for the duration of `work`.
 */
export async function withOperator(
  context: CliContext,
  given: GivenSettings,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const settings = context.loadSettings(given);
  // A token in the environment is for customers' commands; one that is named here is meant.
  if (settings.url !== undefined || given.flags['token-file'] !== undefined)
    return work(asOperator(connectCustomer(context, given)));
  for (let waitedMs = 0; waitedMs < START_LIMIT_MS; waitedMs += START_POLL_MS) {
    const offline = await context.openOffline(given);
    if (offline.kind === 'control') {
      await using control = offline.control;
      return await work(localClientOf(control, control.localSecret));
    }
    const control = context.findControl(settings.dataDir);
    if (control !== undefined) return work(localClientOf(control, control.localSecret));
    await delay(START_POLL_MS);
  }
  throw new CliError(
    `the service running from ${settings.dataDir} has no control process, or is still starting; run this on the machine of a control, or name one with --url and --token-file`,
  );
}

/** Explains the answer to a token without an operator's scope: the service says that the operation does not exist. */
export function asOperator(client: Client): Client {
  return {
    async call(name, request, options) {
      try {
        return await client.call(name, request, options);
      } catch (error) {
        if (!(error instanceof ClientError) || error.code !== 'pathUnknown') throw error;
        throw new CliError(
          "this command needs an operator's access token, not a customer's; on the machine of the service, omit --token-file and --url to run it without a token",
          { cause: error },
        );
      }
    },
  };
}

function remoteClient(baseUrl: string, accessToken: string | undefined): Client {
  return patient(createClient({ baseUrl, accessToken: mustHaveToken(accessToken), locale: 'en' }));
}

/** Client for the control of this machine. */
function localClientOf(control: LocalControl, accessToken: string): Client {
  const send = fetchOf(control);
  return patient(
    createClient({
      baseUrl: control.url,
      accessToken,
      locale: 'en',
      localUser: userName(),
      ...(send !== undefined && { fetch: send }),
    }),
  );
}

/**
 * How the control of this machine is asked, wherever it listens: it knows its operator by a connection from loopback.
 * `undefined`: as any other server.
 */
function fetchOf({ url, certificate }: LocalControl): typeof fetch | undefined {
  const { hostname } = new URL(url);
  const isPlain = certificate === undefined && isLoopback(hostname.replace(/^\[|\]$/g, ''));
  if (isPlain) return undefined;
  const localAddress = hostname.startsWith('[') ? '::1' : '127.0.0.1';
  // Trusted as it is, whoever issued it: it comes from the data directory, and its name need not fit the address.
  const trust = { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
  const send = async (input: string, init?: object) => {
    const { Agent, fetch: fetchWith } = await import('undici'); // costs as much as all the rest of a command
    const dispatcher = new Agent({ localAddress, ...(certificate !== undefined && { connect: trust }) });
    return fetchWith(input, { ...init, dispatcher });
  };
  // Node's `fetch` is this same implementation; only the declarations differ.
  return send as unknown as typeof fetch;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid:${process.getuid?.()}`; // it has no entry in the system's table of users
  }
}

/** Waits where calls come too fast for the service, which did nothing then; not for longer than a person would. */
function patient(client: Client): Client {
  return {
    async call(name, request, options) {
      for (let waitedSeconds = 0; ; ) {
        try {
          return await client.call(name, request, options);
        } catch (error) {
          const seconds = error instanceof ClientError ? error.retryAfterSeconds : undefined;
          if (seconds === undefined || waitedSeconds + seconds > MAX_PATIENCE_SECONDS) throw error;
          waitedSeconds += seconds;
          await delay(seconds * 1000);
        }
      }
    },
  };
}

function readFirstToken({ firstTokenFile }: CliSettings): string | undefined {
  try {
    return readFileSync(firstTokenFile, 'utf8').trim() || undefined;
  } catch {
    return undefined; // moved away, as it should be in time
  }
}

function mustHaveToken(token: string | undefined): string {
  if (token === undefined) throw new CliError('an access token is required; set CAUSEWAY_TOKEN or --token-file');
  return token;
}
