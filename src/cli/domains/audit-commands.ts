/** `causeway audit`: changes of the account that owns the token, or for operators of all accounts. */
import { Command, Option } from 'commander';
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { connectCustomer } from '../command/connect.ts';
import type { CliContext } from '../command/context.ts';
import { findAnyDomainId, findDomainId } from '../command/find-domain.ts';
import { addCallCommand, givenSettings, type Options, parseWholeNumber, textOption } from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { printer, run } from '../command/run-operation.ts';
import { addTimes, timesOf, timeTexts } from '../command/times.ts';
import { describeActor } from './describe-actor.ts';
import { describeChanges } from './describe-changes.ts';

/** Only operators are told the account that owns what was changed; it is empty where only operators own that. */
interface Owned {
  readonly account_id?: string;
}
type Event = DataOf<'audit.get'> & Owned;
type Row = DataOf<'audit.list'>['list'][number] & Owned;

interface Rows {
  readonly list: readonly Row[];
  readonly next: string;
}

export function auditCommand(context: CliContext): Command {
  const command = new Command('audit').description('show who changed what');
  addFilter(addCallCommand(command, context, 'list', 'list changes, the newest first'))
    .option('--operator', 'show changes of all accounts, as an operator')
    .option('--account <account>', 'with --operator: show only what this account owns')
    .action((options: Options) => list(context, options));
  addCallCommand(command, context, 'show <event>', 'show one change, with the values before and after it')
    .option('--operator', 'show a change of any account, as an operator')
    .action((event: string, options: Options) => show(context, event, options));
  return command;
}

function addFilter(command: Command): Command {
  return addTimes(command)
    .option('--domain <domain>', 'show only changes of this domain')
    .option('--operation <name>', 'show only changes by this operation, such as config.setAdvanced')
    .option('--token <token>', 'show only changes with this token')
    .addOption(new Option('--before <event>', 'show only changes older than this one').argParser(parseWholeNumber))
    .option('--page-size <number>', 'number of changes, at most 100', parseWholeNumber);
}

async function list(context: CliContext, options: Options): Promise<void> {
  const filter = {
    operation: textOption(options, 'operation'),
    token_id: textOption(options, 'token'),
    before: numberOption(options, 'before'),
    page_size: numberOption(options, 'pageSize'),
    ...timesOf(context, options),
  };
  const named = textOption(options, 'domain');
  const target = (id: string | undefined) => (id === undefined ? {} : { target_kind: 'domain', target_id: id });
  const withAccount = (line: string[]) => (options['operator'] === true ? line : line.toSpliced(ACCOUNT, 1));
  await asWhom(context, options, {
    operator: async (client) => {
      const account = textOption(options, 'account');
      const id = named === undefined ? undefined : await findAnyDomainId(client, named, account);
      return await client.call('auditOperator.list', { ...filter, ...target(id), account_id: account });
    },
    customer: async (client) => {
      const id = named === undefined ? undefined : await findDomainId(client, named);
      return await client.call('audit.list', { ...filter, ...target(id) });
    },
    lines: ({ list: rows, next }: Rows) => [
      ...formatTable([HEADING, ...rows.map((row) => describe(context, options, row))].map(withAccount)),
      ...(next === '' ? [] : [`there are more: --before ${next}`]),
    ],
  });
}

async function show(context: CliContext, id: string, options: Options): Promise<void> {
  await asWhom(context, options, {
    operator: (client) => client.call('auditOperator.get', { event_id: id }),
    customer: (client) => client.call('audit.get', { event_id: id }),
    lines: (event: Event) => {
      const [, time = '', account = '', who = '', operation = '', target = ''] = describe(context, options, {
        ...event,
        changed: [],
      });
      const { before, after, address, revision, request_id } = event;
      const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
      return [
        ...formatPairs([
          ['time', time],
          ['account', account],
          ['who', who],
          ['address', address],
          ['operation', operation],
          ['target', target],
          ['revision', revision],
          ['request', request_id],
        ]),
        ...describeChanges(names.map((name) => ({ topic: '', name, before: before[name], after: after[name] }))),
      ];
    },
  });
}

interface Ways<T> {
  operator(client: Client): Promise<T>;
  customer(client: Client): Promise<T>;
  lines(data: T): string[];
}

async function asWhom<T>(context: CliContext, options: Options, { operator, customer, lines }: Ways<T>): Promise<void> {
  if (options['operator'] === true)
    return await run(context, options, async (client, print) => {
      const data = await operator(client);
      print(data, lines(data));
    });
  const data = await customer(connectCustomer(context, givenSettings(context, options)));
  printer(context, options)(data, lines(data));
}

const HEADING = ['EVENT', 'TIME', 'ACCOUNT', 'WHO', 'OPERATION', 'TARGET', 'CHANGED'];
const ACCOUNT = HEADING.indexOf('ACCOUNT');

function describe(context: CliContext, options: Options, row: Row): string[] {
  const { event_id, at, account_id = '', operation, target_kind, target_id, target_name, changed } = row;
  const target = [target_kind, target_name || target_id].filter(Boolean).join(' ');
  const time = timeTexts(context, options).ofSeconds(Math.floor(at / 1000));
  return [event_id, time, account_id, describeActor(row), operation, target, changed.join(' ')];
}

function numberOption(options: Options, name: string): number | undefined {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
}
