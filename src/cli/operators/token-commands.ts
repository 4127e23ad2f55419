/**
 * `causeway token`: the tokens of any account, for the operator of this machine, whether the service runs or not, and
 * those of the account of an access token.
 */
import { Command } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import { lastSecondOf } from '#lib/local-time.ts';
import { ACCESS, SCOPES } from '#model/account.ts';
import { connectCustomer } from '../command/connect.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { findAnyDomainId, findDomainId } from '../command/find-domain.ts';
import { addCallCommand, givenSettings, listOption, type Options, splitList, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { printer, run } from '../command/run-operation.ts';
import { expectFuture, type TimeTexts, timeTexts } from '../command/times.ts';

export function tokenCommand(context: CliContext): Command {
  const command = new Command('token').description('manage the access tokens of an account');
  command.addCommand(ownTokenCommand(context));
  addNewTokenOptions(
    addCallCommand(command, context, 'create <account>', 'create an access token, which is shown only once'),
    ['all', 'all', 'any', 'never'],
  ).action((account: string, options: Options) => {
    const { asked, expires } = newTokenOf(context, options);
    return run(context, options, async (client, print) => {
      const domain_ids = await domainsOf(options, (name) => findAnyDomainId(client, name, account));
      const request = { account_id: account, ...asked, domain_ids };
      const data = await expectFuture('--expires', expires, client.call('operator.createToken', request));
      print(data, describeMade(data, expires));
    });
  });
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
        const limits = {
          scopes: wordsOf(options, 'scopes', SCOPES),
          access: wordsOf(options, 'access', ACCESS),
          domain_ids: await domainsOf(options, (name) => findAnyDomainId(client, name, account)),
        };
        const data = await client.call('operator.narrowToken', { account_id: account, token_id: token, ...limits });
        print(data, describeLimits(token, limits));
      }),
    );
  return command;
}

/** `causeway token own`: with the access token of the command, for its own account. */
function ownTokenCommand(context: CliContext): Command {
  const command = new Command('own').description('manage the tokens of the account of the access token in use');
  addNewTokenOptions(
    addCallCommand(command, context, 'create', 'create an access token that may do no more than the one in use'),
    [OF_THE_TOKEN, OF_THE_TOKEN, OF_THE_TOKEN, 'when the token in use does'],
  ).action(async (options: Options) => {
    const { asked, expires } = newTokenOf(context, options);
    const client = connectCustomer(context, givenSettings(context, options));
    const domain_ids = await domainsOf(options, (name) => findDomainId(client, name));
    const data = await expectFuture('--expires', expires, client.call('token.create', { ...asked, domain_ids }));
    printer(context, options)(data, describeMade(data, expires));
  });
  addCallCommand(command, context, 'list', 'list the tokens that may do no more than the one in use').action(
    async (options: Options) => {
      const data = await connectCustomer(context, givenSettings(context, options)).call('token.list', {});
      const times = timeTexts(context, options);
      printer(context, options)(data, formatTable([COLUMNS, ...data.list.map((token) => tokenRow(token, times))]));
    },
  );
  addCallCommand(command, context, 'rotate <token>', 'give a token a new value, which is shown only once')
    .option('--overlap-seconds <seconds>', 'how long the former value still works (default: a day)')
    .action(async (token: string, options: Options) => {
      const request = { token_id: token, overlap_seconds: textOption(options, 'overlapSeconds') };
      const data = await connectCustomer(context, givenSettings(context, options)).call('token.rotate', request);
      const until = timeTexts(context, options).ofSeconds(data.former_expires_at);
      printer(context, options)(data, [...describeMade(data, ''), `the former value works until ${until}`]);
    });
  addCallCommand(command, context, 'revoke <token>', 'revoke a token permanently').action(
    async (token: string, options: Options) => {
      const data = await connectCustomer(context, givenSettings(context, options)).call('token.revoke', {
        token_id: token,
      });
      printer(context, options)(data, [`token ${token} revoked`]);
    },
  );
  return command;
}

const OF_THE_TOKEN = 'those of the token in use';

/** The defaults of access, domains, addresses and the end. */
function addNewTokenOptions(
  command: Command,
  [access, domains, from, expires]: readonly [string, string, string, string],
): Command {
  return command
    .requiredOption('--scopes <list>', `scopes of the token, comma-separated: ${SCOPES.join(', ')}`, splitList)
    .option('--access <list>', `what it may do, comma-separated: ${ACCESS.join(', ')} (default: ${access})`, splitList)
    .option(
      '--domain-ids <list>',
      `domains that it is limited to, comma-separated, by id or name (default: ${domains})`,
      splitList,
    )
    .option('--label <text>', 'a label for the token')
    .option('--from <networks>', `addresses and networks that may use the token, comma-separated (default: ${from})`)
    .option(
      '--expires <when>',
      `when the token expires: at the end of a day in the configured time zone, such as 2027-01-31, or at a time such as 2027-01-31T12:00:00Z (default: ${expires})`,
    );
}

/** `expires` is empty if the token does not expire by an option. */
function newTokenOf(context: CliContext, options: Options) {
  const { timeZone } = context.loadSettings(givenSettings(context, options));
  const expiresAt = readExpiry(textOption(options, 'expires'), timeZone);
  return {
    asked: {
      scopes: wordsOf(options, 'scopes', SCOPES) ?? [],
      access: wordsOf(options, 'access', ACCESS),
      label: textOption(options, 'label'),
      addresses: textOption(options, 'from'),
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
    },
    expires: expiresAt === undefined ? '' : timeTexts(context, options).ofSeconds(expiresAt),
  };
}

function describeMade({ token_id, access_token }: DataOf<'token.create'>, expires: string): readonly string[] {
  return [`token ${token_id}`, access_token, ...(expires === '' ? [] : [`expires ${expires}`])];
}

/** Ids of the domains of an option; `undefined` if it is not given. */
async function domainsOf(options: Options, find: (name: string) => Promise<string>): Promise<string[] | undefined> {
  return options['domainIds'] === undefined ? undefined : Promise.all(listOption(options, 'domainIds').map(find));
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

const COLUMNS = ['ID', 'SCOPES', 'ACCESS', 'DOMAINS', 'CREATED', 'EXPIRES', 'REVOKED', 'USED', 'FROM', 'LABEL'];

function tokenRow(token: DataOf<'operator.listTokens'>['list'][number], { ofLocal }: TimeTexts): string[] {
  const { token_id, scopes, access, domain_ids, create_time, expire_time, revoke_time, addresses, label } = token;
  const ends = [ofLocal(expire_time) || 'never', ofLocal(revoke_time) || 'no'];
  const times = [ofLocal(create_time), ...ends, ofLocal(token.last_used_time) || 'never'];
  const domains = domain_ids.join(',') || 'all';
  const from = addresses.join(',') || 'anywhere';
  return [token_id, scopes.join(','), access.join(','), domains, ...times, from, label];
}
