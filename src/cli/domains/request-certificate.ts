/** `causeway certificate request` and `status`: a certificate that the service obtains for a domain. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findDomainId } from '../command/find-domain.ts';
import { waitForEdges } from '../command/on-domain.ts';
import { addCallCommand, addChangeSettings, givenSettings, ifRevision, type Options } from '../command/options.ts';
import { formatPairs } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { type TimeTexts, timeTexts } from '../command/times.ts';

type Request = DataOf<'config.getCertificateRequest'>;

/** Authorities take seconds; edges that have just died hold an order up for half a minute. */
const WAIT_LIMIT_MS = 300_000;
const WAIT_POLL_MS = 500;

export function addRequestCommands(command: Command, context: CliContext): void {
  addChangeSettings(command.command('request <domain>'), context)
    .description('obtain a certificate for a domain, install it, and renew it before it expires')
    .option('--wait', 'wait until every edge uses the certificate or the request fails')
    .action((domain: string, options: Options) =>
      showRequest(context, domain, options, async (client, id) => {
        await client.call('config.requestCertificate', { domain_id: id, ...ifRevision(options) });
        if (options['wait'] === true) await waitForCertificate(client, id);
      }),
    );
  addCallCommand(
    command,
    context,
    'status <domain>',
    'show the progress of a request and when the certificate is renewed',
  ).action((domain: string, options: Options) => showRequest(context, domain, options, async () => undefined));
}

async function showRequest(
  context: CliContext,
  domain: string,
  options: Options,
  work: (client: Client, id: string) => Promise<void>,
): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const id = await findDomainId(client, domain);
  await work(client, id);
  const data = await client.call('config.getCertificateRequest', { domain_id: id });
  printer(context, options)(data, describeRequest(data, timeTexts(context, options)));
}

async function waitForCertificate(client: Client, id: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += WAIT_POLL_MS) {
    const request = await client.call('config.getCertificateRequest', { domain_id: id });
    if (request.state === 'issued') break;
    if (request.state === 'failed') throw new CliError(`no certificate: ${describeProblem(request)}`);
    if (request.state === 'none') throw new CliError(`no certificate: ${describeProblem(request)}`);
    if (waitedMs >= WAIT_LIMIT_MS)
      throw new CliError(
        `no certificate after ${WAIT_LIMIT_MS / 1000} s: ${describeProblem(request)}; the request continues`,
      );
    await delay(WAIT_POLL_MS);
  }
  await waitForEdges(client, id);
}

function describeRequest(request: Request, { ofLocal }: TimeTexts): readonly string[] {
  return formatPairs([
    ['state', request.state_name],
    ['problem', request.problem === '' ? '' : describeProblem(request)],
    ['certificate', request.ssl_key],
    ['requested', ofLocal(request.request_time)],
    [request.problem === '' ? 'renewal' : 'next attempt', ofLocal(request.next_time)],
  ]);
}

function describeProblem({ problem_name, state_name, detail }: Request): string {
  const what = problem_name === '' ? state_name : problem_name;
  return detail === '' ? what : `${what} (${detail})`;
}
