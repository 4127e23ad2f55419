/** `causeway sink`: receivers of log lines in real time. */
import { Command } from 'commander';
import type { CallOf } from '#contract/operations.ts';
import { SINK_FIELDS, type SinkField } from '#model/line-sink.ts';
import { type CliContext, CliError } from '../command/context.ts';
import { addCallCommand, addToList, addWhole, listOption, type Options, textOption } from '../command/options.ts';
import { formatTable } from '../command/output.ts';
import { run } from '../command/run-operation.ts';

export function sinkCommand(context: CliContext): Command {
  const command = new Command('sink').description('receivers to which edges post log lines in real time');
  addSet(command, context);
  addCallCommand(command, context, 'list', 'list sinks, and the edges that have trouble with them').action(
    (options: Options) =>
      run(context, options, async (client, print) => {
        const { list } = await client.call('sinkOperator.list', {});
        const rows = list.map((sink) => [
          ...[sink.name, sink.url || '(locked)', `${sink.sample_percent} %`, sink.domain_ids.join(',') || 'all'],
          sink.troubles.map(({ edge_id, state, reason }) => `${edge_id}: ${state} (${reason})`).join(', ') || '-',
        ]);
        print(list, formatTable([['NAME', 'URL', 'SAMPLE', 'DOMAINS', 'TROUBLES'], ...rows]));
      }),
  );
  addCallCommand(command, context, 'remove <name>', 'remove a sink').action((name: string, options: Options) =>
    run(context, options, async (client, print) => {
      print(await client.call('sinkOperator.remove', { name }), [`sink ${name} removed`]);
    }),
  );
  addCallCommand(command, context, 'test <name>', 'post a test record from control, and show the answer').action(
    (name: string, options: Options) =>
      run(context, options, async (client, print) => {
        const data = await client.call('sinkOperator.test', { name });
        const { status, reason, took_ms, answer } = data;
        if (status === 0) throw new CliError(`the sink ${name} did not answer: ${reason}`);
        if (status >= 300) throw new CliError(`the sink ${name} answered ${status}: ${answer}`);
        print(data, [`the sink ${name} answered ${status} in ${took_ms} ms`]);
      }),
  );
  return command;
}

function addSet(command: Command, context: CliContext): void {
  addCallCommand(command, context, 'set <name> <url>', 'add a sink, or replace one')
    .option(
      '--header <line>',
      'header field such as "Authorization: Bearer …"; several times; without it those that are stored stay, unless scheme, host or port of the URL change',
      addWhole,
    )
    .option('--no-headers', 'send no header fields of its own')
    .option('--fields <list>', `members of a record (default: all): ${SINK_FIELDS.join(', ')}`, addToList)
    .option('--sample-percent <number>', 'percentage of the lines (default: 100)')
    .option('--domain-ids <list>', 'ids of domains (default: all)', addToList)
    .option('--max-bytes <number>', 'bytes of one post before compression (default: 1048576)')
    .option('--max-records <number>', 'records of one post (default: 5000)')
    .option('--max-seconds <number>', 'how long a record waits for others of its post (default: 5)')
    .action((name: string, url: string, options: Options) =>
      run(context, options, async (client, print) => {
        print(await client.call('sinkOperator.set', requestOf(name, url, options)), [`sink ${name} set`]);
      }),
    );
}

function requestOf(name: string, url: string, options: Options): CallOf<'sinkOperator.set'> {
  const headers = listOption(options, 'header');
  const fields = listOption(options, 'fields');
  const ids = listOption(options, 'domainIds');
  return {
    name,
    url,
    ...(options['headers'] === false ? { headers: [] } : headers.length > 0 && { headers: [...headers] }),
    // `as`: the interface refuses other words.
    ...(fields.length > 0 && { fields: fields as SinkField[] }),
    ...(ids.length > 0 && { domain_ids: ids.join(',') }),
    sample_percent: textOption(options, 'samplePercent'),
    max_bytes: textOption(options, 'maxBytes'),
    max_records: textOption(options, 'maxRecords'),
    max_seconds: textOption(options, 'maxSeconds'),
  };
}
