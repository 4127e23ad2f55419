/** `causeway account` and `causeway token`: for the operator of this machine, whether the service runs or not. */
import { Command } from 'commander';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { lastSecondOf } from '#lib/local-time.ts';
import { readAllPages } from './all-pages.ts';
import { type CliContext, CliError } from './context.ts';
import { addCallCommand, givenSettings, listOption, type Options, splitList, textOption } from './options.ts';
import { formatTable } from './output.ts';
import { run } from './run-operation.ts';
import { expectFuture, type TimeTexts, timeTexts } from './times.ts';

export function accountCommand(context: CliContext): Command {
  const command = new Command('account').description('manage the accounts of customers and operators');
  addCallCommand(command, context, 'create <name>', 'create an account')
    .option('--operator', 'create an operator account instead of a customer account')
    .action((name: string, options: Options) =>
      run(context, options, async (client, print) => {
        const kind = options['operator'] === true ? 'operator' : 'customer';
        const data = await client.call('operator.createAccount', { name, kind });
        print(data, [`account ${data.account_id}`]);
      }),
    );
  addCallCommand(command, context, 'list', 'list all accounts').action((options: Options) =>
    run(context, options, async (client, print) => {
      const accounts = await readAllPages((page) => client.call('operator.listAccounts', page));
      const { ofLocal } = timeTexts(context, options);
      const rows = accounts.map((one) => [one.account_id, one.kind, ofLocal(one.create_time), one.name]);
      print(accounts, formatTable([['ID', 'KIND', 'CREATED', 'NAME'], ...rows]));
    }),
  );
  for (const [name, description, enabled] of STATUS_COMMANDS)
    addCallCommand(command, context, `${name} <account>`, description).action((account: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('operator.setAccountStatus', { account_id: account, enabled });
        print(data, [`account ${account} ${name}d`]);
      }),
    );
  return command;
}

const STATUS_COMMANDS = [
  ['disable', 'reject the tokens of an account; its domains stay in service', 0],
  ['enable', 'accept the tokens of a disabled account again', 1],
] as const;

export function tokenCommand(context: CliContext): Command {
  const command = new Command('token').description('manage the access tokens of an account');
  addCallCommand(command, context, 'create <account>', 'create an access token, which is shown only once')
    .requiredOption('--scopes <list>', 'scopes of the token, comma-separated: cdn, sms, operator', splitList)
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
        print(
          list,
          formatTable([
            ['ID', 'SCOPES', 'CREATED', 'EXPIRES', 'REVOKED', 'FROM', 'LABEL'],
            ...list.map((token) => tokenRow(token, times)),
          ]),
        );
      }),
  );
  addCallCommand(command, context, 'revoke <account> <token>', 'revoke a token permanently').action(
    (account: string, token: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('operator.revokeToken', { account_id: account, token_id: token });
        print(data, [`token ${token} revoked`]);
      }),
  );
  addCallCommand(command, context, 'narrow <account> <token>', 'reduce the scopes of a token')
    .requiredOption('--scopes <list>', 'scopes that the token keeps, comma-separated', splitList)
    .action((account: string, token: string, options: Options) =>
      run(context, options, async (client, print) => {
        const scopes = scopesOf(options);
        const data = await client.call('operator.narrowToken', { account_id: account, token_id: token, scopes });
        print(data, [`scopes of token ${token}: ${scopes.join(', ')}`]);
      }),
    );
  return command;
}

async function createToken(context: CliContext, account: string, options: Options): Promise<void> {
  const { timeZone } = context.loadSettings(givenSettings(context, options));
  const expiresAt = readExpiry(textOption(options, 'expires'), timeZone);
  const request = {
    account_id: account,
    scopes: scopesOf(options),
    label: textOption(options, 'label'),
    addresses: textOption(options, 'from'),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
  const expires = expiresAt === undefined ? '' : timeTexts(context, options).ofSeconds(expiresAt);
  await run(context, options, async (client, print) => {
    const data = await expectFuture('--expires', expires, client.call('operator.createToken', request));
    const until = expires === '' ? [] : [`expires ${expires}`];
    print(data, [`token ${data.token_id}`, data.access_token, ...until]);
  });
}

/** Returns epoch seconds. */
function readExpiry(text: string | undefined, timeZone: string): number | undefined {
  if (text === undefined) return undefined;
  const moment = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) ? Math.floor(Date.parse(text) / 1000) : Number.NaN;
  const expiresAt = Number.isNaN(moment) ? lastSecondOf(text, timeZone) : moment;
  if (expiresAt !== undefined) return expiresAt;
  throw new CliError('--expires: expected a day such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z');
}

type Scopes = CallOf<'operator.createToken'>['scopes'];

function scopesOf(options: Options): Scopes {
  const known = ['cdn', 'sms', 'operator'] as const;
  return listOption(options, 'scopes').map((text) => {
    const scope = known.find((name) => name === text);
    if (scope === undefined) throw new CliError(`--scopes: expected ${known.join(', ')}, not ${text}`);
    return scope;
  });
}

function tokenRow(token: DataOf<'operator.listTokens'>['list'][number], { ofLocal }: TimeTexts): string[] {
  const { token_id, scopes, create_time, expire_time, revoke_time, addresses, label } = token;
  const from = addresses.join(',') || 'anywhere';
  const [expires, revoked] = [ofLocal(expire_time) || 'never', ofLocal(revoke_time) || 'no'];
  return [token_id, scopes.join(','), ofLocal(create_time), expires, revoked, from, label];
}
