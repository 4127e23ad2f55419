import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { ERRORS } from '#contract/errors.ts';
import { ROUTES } from '#contract/routes.ts';
import { inCommands } from './command-words.ts';

test('what the service says of its operations names commands instead', () => {
  assert.equal(
    inCommands('give them another one with /config/setSslInfo first; /config/other', undefined),
    'give them another one with "causeway domain ssl" first; /config/other',
  );
});

test('no error speaks of an account or a domain by the name of a field', () => {
  const taken = takenBy(['--account <account>', '--domain <domain>']);
  for (const [code, { text }] of Object.entries(ERRORS))
    assert.doesNotMatch(inCommands(text.en, taken), /\b(account|domain)_id\b/, code);
  assert.match(inCommands(ERRORS.accountNotNamed.text.en, taken), /^--account is missing: /);
});

test('a field is called what the command calls it', () => {
  const rows: readonly [string, Command, string][] = [
    ['field window is invalid: expected 1', takenBy(['--window <parts>']), '--window is invalid: expected 1'],
    [
      'field receipt_zone_minutes is missing',
      takenBy(['--receipt-zone-minutes <n>']),
      '--receipt-zone-minutes is missing',
    ],
    ['field backup[3] is invalid', takenBy(['--backup <origins>']), '--backup is invalid'],
    ['field amount is invalid', takenBy([], ['<account>', '<amount>']), '<amount> is invalid'],
    ['field data[0] is invalid', takenBy([], ['<domain>', '<origin...>']), '<origin> is invalid'],
    ['field account_id is invalid', takenBy([], ['<account>']), '<account> is invalid'],
    ['field tls_ca is invalid', takenBy(['--tls <switch>', '--tls-ca-file <file>']), '--tls-ca-file is invalid'],
    [
      'field ip_str[0] is invalid',
      takenBy(['--deny <hosts>', '--allow <hosts>'], [], ['--allow', 'a']),
      '--allow is invalid',
    ],
    [
      'field ip_str[0] is invalid',
      takenBy(['--deny <hosts>', '--allow <hosts>'], [], ['--deny', 'a']),
      '--deny is invalid',
    ],
    [
      'field starttime is invalid: expected a time that is not after endtime',
      takenBy(['--from <time>', '--to <time>']),
      '--from is invalid: expected a time that is not after --to',
    ],
    ['field policy[0][content] is invalid', takenBy(['--content <text>']), 'field policy[0][content] is invalid'],
    ['field url is invalid', takenBy(['--url <value>', '--json <object>']), 'field url is invalid'],
    ['domain 7 has no field window', takenBy(['--window <parts>']), 'domain 7 has no field window'],
  ];
  for (const [message, command, expected] of rows) assert.equal(inCommands(message, command), expected);
});

test('no error that has a path of the interface is shown with it', () => {
  const paths = Object.values(ROUTES).map(({ path }) => path);
  for (const [code, { text }] of Object.entries(ERRORS)) {
    const shown = inCommands(text.en, takenBy([]));
    assert.ok(!paths.some((path) => shown.includes(path)), `${code}: ${shown}`);
  }
});

/** A command that takes these, as it was run with `given`. */
function takenBy(options: readonly string[], args: readonly string[] = [], given: readonly string[] = []): Command {
  const command = new Command('some');
  for (const flags of options) command.option(flags);
  for (const name of args) command.argument(name);
  return given.length === 0 ? command : command.parse(given, { from: 'user' });
}
