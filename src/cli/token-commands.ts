/** `causeway token`: the tokens of an account, for the operator of this machine, whether the service runs or not. */
import { Command } from 'commander';
import type { Client } from '#client/client.ts';
import type { DataOf } from '#contract/operations.ts';
import { lastSecondOf } from '#lib/local-time.ts';
import { ACCESS, SCOPES } from '#model/account.ts';
import { type CliContext, CliError } from './context.ts';
import { findAnyDomainId } from './find-domain.ts';
import { addCallCommand, givenSettings, listOption, type Options, splitList, textOption } from './options.ts';
import { formatTable } from './output.ts';
import { run } from './run-operation.ts';
import { expectFuture, type TimeTexts, timeTexts } from './times.ts';

export function tokenCommand(context: CliContext): Command {
  const command = new Command('token').description('manage the access tokens of an account');
  addCallCommand(command, context, 'create <account>', 'create an access token, which is shown only once')
    .requiredOption('--scopes <list>', `scopes of the token, comma-separated: ${SCOPES.join(', ')}`, splitList)
    .option('--access <list>', `what it may do, comma-separated: ${ACCESS.join(', ')} (default: all)`, splitList)
    .option('--domain-ids <list>', 'domains that it is limited to, comma-separated, by id or name', splitList)
    .option('--label <text>', 'a label for the token')
    .option('--from <networks>', 'addresses and networks that may use the token, comma-separated (default: any)')
    .option(
      '--expires <when>',
      'when the token expires: at the end of a day in the configured time zone, such as 2027-01-31, or at a time such as 2027-01-31T12:00:00Z (default: never)',
    )
    .action((account: string, options: Options) => createToken(context, account, options));
  addCallCommand(command, context, 'list <account>', 'list the tokens of an account, without their values').action(
    (account: string, options: Options) =>
      run(context, options, async (client, print) => {
        const times = timeTexts(context, options);
        const { list } = await client.call('operator.listTokens', { account_id: account });
        print(list, formatTable([COLUMNS, ...list.map((token) => tokenRow(token, times))]));
      }),
  );
  addCallCommand(command, context, 'revoke <account> <token>', 'revoke a token permanently').action(
    (account: string, token: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('operator.revokeToken', { account_id: account, token_id: token });
        print(data, [`token ${token} revoked`]);
      }),
  );
  addCallCommand(command, context, 'narrow <account> <token>', 'reduce what a token may do')
    .option('--scopes <list>', 'scopes that the token keeps, comma-separated', splitList)
    .option('--access <list>', 'access that the token keeps, comma-separated', splitList)
    .option('--domain-ids <list>', 'domains that the token keeps, comma-separated, by id or name', splitList)
    .action((account: string, token: string, options: Options) =>
      run(context, options, async (client, print) => {
        const limits = { scopes: wordsOf(options, 'scopes', SCOPES), ...(await limitsOf(client, account, options)) };
        const data = await client.call('operator.narrowToken', { account_id: account, token_id: token, ...limits });
        print(data, describeLimits(token, limits));
      }),
    );
  return command;
}

async function createToken(context: CliContext, account: string, options: Options): Promise<void> {
  const { timeZone } = context.loadSettings(givenSettings(context, options));
  const expiresAt = readExpiry(textOption(options, 'expires'), timeZone);
  const scopes = wordsOf(options, 'scopes', SCOPES) ?? [];
  const expires = expiresAt === undefined ? '' : timeTexts(context, options).ofSeconds(expiresAt);
  await run(context, options, async (client, print) => {
    const request = {
      account_id: account,
      scopes,
      ...(await limitsOf(client, account, options)),
      label: textOption(options, 'label'),
      addresses: textOption(options, 'from'),
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
    };
    const data = await expectFuture('--expires', expires, client.call('operator.createToken', request));
    const until = expires === '' ? [] : [`expires ${expires}`];
    print(data, [`token ${data.token_id}`, data.access_token, ...until]);
  });
}

/** Options that are absent are absent here, too. */
async function limitsOf(client: Client, account: string, options: Options) {
  const domains = options['domainIds'] === undefined ? undefined : listOption(options, 'domainIds');
  return {
    access: wordsOf(options, 'access', ACCESS),
    domain_ids: domains && (await Promise.all(domains.map((name) => findAnyDomainId(client, name, account)))),
  };
}

/** Returns epoch seconds. */
function readExpiry(text: string | undefined, timeZone: string): number | undefined {
  if (text === undefined) return undefined;
  const moment = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) ? Math.floor(Date.parse(text) / 1000) : Number.NaN;
  const expiresAt = Number.isNaN(moment) ? lastSecondOf(text, timeZone) : moment;
  if (expiresAt !== undefined) return expiresAt;
  throw new CliError('--expires: expected a day such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z');
}

/** The words of a list option; `undefined` if it is not given. */
function wordsOf<const W extends string>(options: Options, name: string, known: readonly W[]): W[] | undefined {
  if (options[name] === undefined) return undefined;
  return listOption(options, name).map((text) => {
    const word = known.find((candidate) => candidate === text);
    if (word === undefined) throw new CliError(`--${name}: expected ${known.join(', ')}, not ${text}`);
    return word;
  });
}

interface Limits {
  readonly scopes: readonly string[] | undefined;
  readonly access: readonly string[] | undefined;
  readonly domain_ids: readonly string[] | undefined;
}

function describeLimits(token: string, { scopes, access, domain_ids }: Limits): readonly string[] {
  const kept = Object.entries({ scopes, access, domains: domain_ids });
  return kept.flatMap(([name, list]) => (list === undefined ? [] : [`${name} of token ${token}: ${list.join(', ')}`]));
}

const COLUMNS = ['ID', 'SCOPES', 'ACCESS', 'DOMAINS', 'CREATED', 'EXPIRES', 'REVOKED', 'FROM', 'LABEL'];

function tokenRow(token: DataOf<'operator.listTokens'>['list'][number], { ofLocal }: TimeTexts): string[] {
  const { token_id, scopes, access, domain_ids, create_time, expire_time, revoke_time, addresses, label } = token;
  const times = [ofLocal(create_time), ofLocal(expire_time) || 'never', ofLocal(revoke_time) || 'no'];
  const domains = domain_ids.join(',') || 'all';
  const from = addresses.join(',') || 'anywhere';
  return [token_id, scopes.join(','), access.join(','), domains, ...times, from, label];
}
