import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERRORS } from '#contract/errors.ts';
import { ROUTES } from '#contract/routes.ts';
import { inCommands } from './command-words.ts';

test('what the service says of its operations names commands instead', () => {
  assert.equal(
    inCommands('give them another one with /config/setSslInfo first; /config/other'),
    'give them another one with "causeway domain ssl" first; /config/other',
  );
});

test('no error speaks of an account or a domain by the name of a field', () => {
  for (const [code, { text }] of Object.entries(ERRORS))
    assert.doesNotMatch(inCommands(text.en), /\b(account|domain)_id\b/, code);
  assert.match(inCommands(ERRORS.accountNotNamed.text.en), /^--account is missing: /);
});

test('no error that has a path of the interface is shown with it', () => {
  const paths = Object.values(ROUTES).map(({ path }) => path);
  for (const [code, { text }] of Object.entries(ERRORS)) {
    const shown = inCommands(text.en);
    assert.ok(!paths.some((path) => shown.includes(path)), `${code}: ${shown}`);
  }
});
