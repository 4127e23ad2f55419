/** `causeway domain revisions` and `causeway domain revert`. docs/decisions/0624 */
import type { Command } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import { connectCustomer } from '../command/connect.ts';
import type { CliContext } from '../command/context.ts';
import { findDomainId } from '../command/find-domain.ts';
import { onDomain, WAIT_MEANING } from '../command/on-domain.ts';
import {
  addCallCommand,
  addChangeSettings,
  addToList,
  givenSettings,
  ifRevision,
  listOption,
  type Options,
  parseWholeNumber,
} from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { printer } from '../command/run-operation.ts';
import { timeTexts } from '../command/times.ts';
import { describeActor } from './describe-actor.ts';
import { describeChanges } from './describe-changes.ts';

export function addRevisionCommands(group: Command, context: CliContext): void {
  addCallCommand(group, context, 'revisions <domain>', 'list earlier settings of a domain, the newest first')
    .option('--before <revision>', 'show only older ones', parseWholeNumber)
    .option('--page-size <number>', 'number of revisions, at most 100', parseWholeNumber)
    .action((domain: string, options: Options) => listRevisions(context, domain, options));
  addChangeSettings(group.command('revert <domain> <revision>'), context)
    .description('set settings of a domain back to those of an earlier revision')
    .option('--only <names>', 'only these topics or settings, such as cache,advanced.expires', addToList)
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--wait', WAIT_MEANING)
    .action((domain: string, revision: string, options: Options) => revert(context, domain, revision, options));
}

async function listRevisions(context: CliContext, domain: string, options: Options): Promise<void> {
  const client = connectCustomer(context, givenSettings(context, options));
  const { before, pageSize } = options;
  const data = await client.call('domain.listRevisions', {
    domain_id: await findDomainId(client, domain),
    ...(typeof before === 'number' && { before }),
    ...(typeof pageSize === 'number' && { page_size: pageSize }),
  });
  const times = timeTexts(context, options);
  const rows = data.list.map(({ revision, changed_at, changed_by }) => [
    revision,
    times.ofSeconds(Math.floor(changed_at / 1000)),
    changed_by === null ? '-' : describeActor(changed_by),
    changed_by?.operation ?? '-',
  ]);
  const more = data.next === '' ? [] : [`there are more: --before ${data.next}`];
  printer(context, options)(data, [...formatTable([['REVISION', 'TIME', 'WHO', 'OPERATION'], ...rows]), ...more]);
}

function revert(context: CliContext, domain: string, revision: string, options: Options): Promise<void> {
  const names = listOption(options, 'only');
  return onDomain(context, domain, options, async (client, id) => {
    const data = await client.call('domain.revert', {
      domain_id: id,
      to_revision: revision,
      ...(names.length > 0 && { names: [...names] }),
      dry_run: options['dryRun'] === true ? '1' : '0',
      ...ifRevision(options),
    });
    return { data, lines: describeReverted(data) };
  });
}

function describeReverted({ changes, left_out, warnings }: DataOf<'domain.revert'>): string[] {
  return [
    ...(changes.length === 0 ? ['no change'] : describeChanges(changes)),
    ...left_out.map(({ topic, name }) => `${topic}.${name}: left as it is, since its certificate is gone`),
    ...warnings.map(({ text }) => `warning: ${text}`),
  ];
}
