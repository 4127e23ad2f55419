import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { ERRORS } from '#contract/errors/errors.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTES } from '#contract/routes.ts';
import { inCommands, PHRASES } from './command-words.ts';

test('messages of the service name commands instead of operations', () => {
  assert.equal(
    inCommands('give them another one with /config/setSslInfo first; /config/other', undefined),
    'give them another one with "causeway domain ssl" first; /config/other',
  );
});

test('no error names an account or a domain by a field', () => {
  const taken = takenBy(['--account <account>', '--domain <domain>']);
  for (const [code, { text }] of Object.entries(ERRORS))
    assert.doesNotMatch(inCommands(text.en, taken), /\b(account|domain)_id\b/, code);
  assert.match(inCommands(ERRORS.accountNotNamed.text.en, taken), /^--account is missing: /);
});

test('a field is called by the option of the command', () => {
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
      'field referer_str[0] is invalid',
      takenBy(['--deny <hosts>', '--allow <hosts>'], [], ['--allow', 'a']),
      '--allow is invalid',
    ],
    [
      'field referer_str[0] is invalid',
      takenBy(['--deny <hosts>', '--allow <hosts>'], [], ['--deny', 'a']),
      '--deny is invalid',
    ],
    [
      'field starttime is invalid: expected a time that is not after endtime',
      takenBy(['--from <time>', '--to <time>']),
      '--from is invalid: expected a time that is not after --to',
    ],
    [
      'field ssl_key_second is invalid: expected another kind of key than that of ssl_key, but both are EC',
      takenBy(['--certificate <key>', '--second-certificate <key>']),
      '--second-certificate is invalid: expected another kind of key than that of --certificate, but both are EC',
    ],
    [
      'field html_403 is missing: expected it when forbid_http_code is 403; found "forbid_http_code \\" ssl_key"',
      takenBy(['--html-403 <file>', '--forbid <how>', '--certificate <key>']),
      '--html-403 is missing: expected it when --forbid is 403; found "forbid_http_code \\" ssl_key"',
    ],
    [
      'field status_words[1] is invalid',
      takenBy(['--status-words <words>', '--status-words-file <file>'], [], ['--status-words-file', 'a']),
      '--status-words-file is invalid',
    ],
    ['field policy[0][content] is invalid', takenBy(['--content <text>']), 'field policy[0][content] is invalid'],
    ['field url is invalid', takenBy(['--url <value>', '--json <object>']), 'field url is invalid'],
    ['domain 7 has no field window', takenBy(['--window <parts>']), 'domain 7 has no field window'],
  ];
  for (const [message, command, expected] of rows) assert.equal(inCommands(message, command), expected);
});

/** Policies are written in JSON, with the names of fields; commands print `app_key`; an operator's token names no account; a token is no option. */
const SHOWN_AS_THEY_ARE = ['use_header_setting', 'app_key', 'account_id', 'access_token'];

/** Names of fields that are not also English words. */
const FIELD_WORDS = /\b(?:[a-z]+(?:_[a-z\d]+)+|urls|starttime|endtime|sourcehost)\b/g;

test('no error or expectation names a field of the interface where the command has an option for it', () => {
  const fields = new Set(Object.values(OPERATIONS).flatMap(({ request }) => Object.keys(request.fields)));
  const expectations = Object.values(OPERATIONS).flatMap(({ request }) =>
    Object.entries(request.fields).map(([field, { expects }]) => `field ${field} is invalid: expected ${expects.en}`),
  );
  const errors = Object.values(ERRORS).map(({ text }) => text.en.replace('{field}', 'content'));
  const taken = takenBy(
    ['--app <key>', '--forbid <how>', '--certificate <key>', '--from <time>', '--to <time>', '--domain <domain>'],
    ['<text>'],
  );
  for (const text of [...expectations, ...errors]) {
    const [, shown = ''] = /^(?:field \w+ is |<?[-\w]+>? is )?(.*)$/s.exec(inCommands(text, taken)) ?? [];
    const said = [...shown.matchAll(FIELD_WORDS)].map(([word]) => word);
    assert.deepEqual(
      said.filter((word) => fields.has(word) && !SHOWN_AS_THEY_ARE.includes(word)),
      [],
      text,
    );
  }
});

test('every phrase that is rewritten is one of an error or of an expectation', () => {
  const expectations = Object.values(OPERATIONS).flatMap(({ request }) => Object.values(request.fields));
  const texts = [...expectations.map(({ expects }) => expects.en), ...Object.values(ERRORS).map(({ text }) => text.en)];
  const shown = texts.map((text) => `expected ${text}`).join('\n');
  for (const [said] of PHRASES) assert.ok(shown.includes(said), said);
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
