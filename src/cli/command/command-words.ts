/** Rewrites messages of the service, which name operations by path and field, into commands, options and arguments. */
import type { Command } from 'commander';
import { WIRE_DENY_LISTS } from '#contract/domains/deny-lists.ts';
import { CALL_SETTINGS } from './options.ts';

/** Commands of the paths that errors point to. */
const COMMANDS: Readonly<Record<string, string>> = {
  '/config/setSslInfo': 'causeway domain ssl',
  '/config/addCertificate': 'causeway certificate add',
  '/operator/addEdge': 'causeway edge add',
};

const DENY_LISTS = Object.values(WIRE_DENY_LISTS);

/** Phrases of errors about several fields, and the same with options. */
export const PHRASES: readonly (readonly [said: string, shown: string])[] = [
  ['expected urls, directories or domain_id', 'expected URLs, --directory or --domain'],
  ['domain_id purges the whole domain', '--domain purges the whole domain'],
  ['cannot go together with urls or directories', 'cannot go together with URLs or --directory'],
  ['not after endtime', 'not after --to'],
  ['drain it first, or set force', 'drain it first, or give --force'],
  ['when ssl_control is 0 or', 'with --off, or when'],
  ['when referer_type is 0 or', 'with --off, or when'],
  ...DENY_LISTS.map(({ flag }) => [`when ${flag} is 0 or`, 'with --off, or when'] as const),
  ['(cdn_type 4)', '(type live)'],
];

/** Options and arguments of fields whose names differ. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  account_id: ['--account', '<account>'],
  addresses: ['--from'],
  app_name: ['<stream>'],
  app_key: ['--app'],
  cdn_type: ['--type'],
  content: ['<text>'],
  data: ['<origin>'],
  directories: ['--directory'],
  domain: ['<name>'],
  domain_id: ['--domain', '<domain>'],
  endtime: ['--to'],
  expires_at: ['--expires'],
  forbid_http_code: ['--forbid'],
  hsts_max_age: ['--hsts'],
  icp_no: ['--icp'],
  mobile: ['--to', '<number>'],
  names: ['--only'],
  password: ['--password-file'],
  private_key: ['<key>'],
  referer_str: ['--deny', '--allow'],
  remark: ['<text>'],
  sourcehost: ['--source-host'],
  resume_at: ['--until'],
  stream_name: ['<stream>'],
  ssl_key: ['--certificate', '<certificate>'],
  ssl_key_second: ['--second-certificate'],
  ssl_title: ['--title'],
  starttime: ['--from'],
  status_words: ['--status-words', '--status-words-file'],
  task_id: ['<task>'],
  tls_ca: ['--tls-ca-file'],
  token_id: ['<token>'],
  person_id: ['<person>'],
  invitation_id: ['<invitation>'],
  email: ['<email>'],
  urls: ['<url>'],
  ...Object.fromEntries(DENY_LISTS.map(({ list }) => [list, ['--deny']])),
};

/** `ran`: the command whose call was refused. */
export function inCommands(message: string, ran: Command | undefined): string {
  const withCommands = message.replace(/\/[a-z]+\/[A-Za-z]+/g, (path) =>
    Object.hasOwn(COMMANDS, path) ? `"${COMMANDS[path]}"` : path,
  );
  const withOptions = PHRASES.reduce((text, [said, shown]) => text.replace(said, shown), withCommands);
  // An entry of a list, or a term of a filter, is shown by its value, so its index is dropped. Members of an entry were written in JSON.
  if (ran === undefined) return withOptions;
  const withOwn = withOptions.replace(/^field (\w+)(?:\[\w+\])? (?=is )/, (said, field: string) => {
    const name = nameOf(field, ran);
    return name === undefined ? said : `${name} `;
  });
  // Other fields that the text names; quoted text is the caller's.
  return withOwn.replace(
    /"(?:[^"\\]|\\.)*"|\b[a-z]+(?:_[a-z\d]+)+\b/g,
    (word) => (word.startsWith('"') || word === 'app_key' ? word : (nameOf(word, ran) ?? word)), // commands print app_key, too
  );
}

/** The option or argument of a field; of several, one that was given. */
function nameOf(field: string, ran: Command): string | undefined {
  const words = field.replaceAll('_', '-');
  const names = [...(Object.hasOwn(OTHER_NAMES, field) ? (OTHER_NAMES[field] ?? []) : []), `--${words}`, `<${words}>`];
  const options = ran.options.filter((option) => !CALL_SETTINGS.includes(option.name()));
  const given = options.filter((option) => ran.getOptionValueSource(option.attributeName()) === 'cli');
  const taken = [
    ...options.map(({ long }) => long),
    ...ran.registeredArguments.map((argument) => `<${argument.name()}>`),
  ];
  return names.find((name) => given.some(({ long }) => long === name)) ?? names.find((name) => taken.includes(name));
}
