/** `causeway domain url-signing`: signed URLs and their keys. Without a change it shows what is set. */

import { Command } from 'commander';
import type { Client } from '#client/transport.ts';
import type { CallOf } from '#contract/operations.ts';
import type { CliContext } from '../command/context.ts';
import { onDomain, type Shown, WAIT_MEANING } from '../command/on-domain.ts';
import { addChangeSettings, ifRevision, type Options, onOffOption, textOption } from '../command/options.ts';
import { formatPairs, formatTable } from '../command/output.ts';
import { readJsonObject, readRequest } from '../command/read-request.ts';
import { readUserFile } from '../command/read-user-file.ts';

export function signingCommand(context: CliContext): Command {
  return addChangeSettings(new Command('url-signing').argument('<domain>'), context)
    .description("show a domain's signed URLs, or change the given settings")
    .addOption(onOffOption('--sign <switch>', 'refuse URLs without a valid auth_key'))
    .option('--valid-seconds <seconds>', 'how long a URL is valid after its timestamp')
    .option('--paths <file>', 'replace the paths that need a signature with those in a JSON file')
    .option('--primary-key-file <file>', 'file whose first line is the primary key; an empty line removes it')
    .option('--secondary-key-file <file>', 'the same for the secondary key')
    .option('--wait', WAIT_MEANING)
    .action((domain: string, options: Options) =>
      onDomain(context, domain, options, (client, id) => changeSigning(client, id, options)),
    );
}

async function changeSigning(client: Client, id: string, options: Options): Promise<Shown> {
  const now = await client.call('config.getUrlSigning', { domain_id: id });
  const given = givenFields(options);
  if (Object.keys(given).length > 0) {
    const sign = given.sign ?? now.sign;
    const revision = textOption(options, 'ifRevision') ?? now.revision;
    const request = readRequest('config.setUrlSigning', JSON.stringify({ ...given, sign }), '--paths', {
      domain_id: id,
      ...ifRevision({ ifRevision: revision }),
    });
    await client.call('config.setUrlSigning', request);
  }
  const data = await client.call('config.getUrlSigning', { domain_id: id });
  const keys = [data.has_primary_key === '1' && 'primary', data.has_secondary_key === '1' && 'secondary'];
  const pairs = formatPairs([
    ['sign', data.sign === '1' ? 'on' : 'off'],
    ['valid-seconds', `${data.valid_seconds} s`],
    ['keys', keys.filter(Boolean).join(' ') || 'none'],
  ]);
  const rows = data.paths.map(({ path_type, path }) => [path_type, path]);
  return { data, lines: [...pairs, ...(rows.length === 0 ? [] : formatTable([['TYPE', 'PATH'], ...rows]))] };
}

type Given = Partial<Omit<CallOf<'config.setUrlSigning'>, 'domain_id' | 'if_revision'>>;

function givenFields(options: Options): Given {
  const [sign, seconds] = [textOption(options, 'sign'), textOption(options, 'validSeconds')];
  const [paths, primary, secondary] = ['paths', 'primaryKeyFile', 'secondaryKeyFile'].map((name) => {
    const file = textOption(options, name);
    return file === undefined ? undefined : readUserFile(file);
  });
  return {
    ...(sign !== undefined && { sign: sign === 'on' ? '1' : '0' }),
    ...(seconds !== undefined && { valid_seconds: seconds }),
    ...(paths !== undefined && readJsonObject(paths, textOption(options, 'paths') ?? '')),
    ...(primary !== undefined && { primary_key: firstLine(primary) }),
    ...(secondary !== undefined && { secondary_key: firstLine(secondary) }),
  };
}

function firstLine(text: string): string {
  return text.split(/\r?\n/, 1)[0] ?? '';
}
