/** What is written twice on purpose: the contract, its OpenAPI document, its reference and the table of errors. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { compileErrors, validate } from '@readme/openapi-parser';
import * as z from 'zod';
import { decodeRequest } from '#contract/decode.ts';
import { DOMAIN_DATA } from '#contract/domains/domain-data.ts';
import { ERRORS } from '#contract/errors/errors.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import { COMMON } from '#contract/schema/operation.ts';
import { END_REASONS } from '#model/live-stream.ts';
import { openApiFile, openApiText } from '../support/api/openapi.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Not to be had in a test over HTTP: what the API accepts compiles (a property test says so), and 30 s are too long. */
const NOT_OVER_HTTP = ['settingsInvalid', 'requestTimeout'];

describe('the contract', () => {
  test('docs/openapi.json is generated from the contract (node test/support/api/write-openapi.ts)', () => {
    assert.equal(readFileSync(openApiFile, 'utf8'), openApiText());
  });

  test('docs/openapi.json is valid OpenAPI 3.1 to an independent parser', async () => {
    const result = await validate(openApiFile);
    assert.ok(result.valid, result.valid ? '' : compileErrors(result));
    const broken = JSON.parse(openApiText());
    broken.paths['/domain/addDomain'].post.responses = 7;
    assert.equal((await validate(broken)).valid, false, 'the parser finds what is wrong');
  });

  test('docs/interface.md has each operation with its fields, in order', () => {
    const reference = readFileSync(join(ROOT, 'docs/interface.md'), 'utf8');
    const sections = reference.split(/^### POST /m).slice(1);
    const headings = sections.map((section) => section.slice(0, section.indexOf('\n')));
    assert.deepEqual(
      headings,
      ROUTE_NAMES.map((name) => ROUTES[name].path + ('extension' in ROUTES[name] ? ' (extension)' : '')),
    );
    for (const [index, name] of ROUTE_NAMES.entries()) {
      const section = sections[index] ?? '';
      assert.ok(section.replace(/\s+/g, ' ').includes(`\`${name}\` (access \`${ROUTES[name].access}\`)`), name);
      const rows = [...section.matchAll(/^\| `(\w+)` \| (yes|no) \| (.+) \|$/gm)].map(([, ...row]) => row);
      const fields = Object.entries(OPERATIONS[name].request.fields).map(([field, { schema, expects }]) => [
        field,
        schema.safeParse(undefined).success ? 'no' : 'yes',
        expects.en,
      ]);
      assert.deepEqual(rows, fields, name);
      const { data } = OPERATIONS[name];
      // The domain object has a table of its own.
      if (data instanceof z.ZodObject && 'revision' in data.shape && !name.startsWith('domain.'))
        assert.match(section, /^`data` of the answer.*`revision`/m, name);
    }
    const object = reference.slice(reference.indexOf('### The domain object'), reference.indexOf('### States'));
    assert.deepEqual(
      [...object.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field),
      Object.keys(DOMAIN_DATA.shape),
    );
  });

  test('docs/interface.md and the contract name every reason why a broadcast ended', () => {
    const reference = readFileSync(join(ROOT, 'docs/interface.md'), 'utf8');
    const [, table = ''] = /^\| `end_reason` \|.*\n((?:\|.*\n)+)/m.exec(reference) ?? [];
    const documented = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, reason]) => reason);
    assert.deepEqual(documented, END_REASONS);
    const described = OPERATIONS['live.history'].data.shape.list.element.shape.end_reason.description;
    assert.deepEqual(described?.replace(/;.*/, '').split(/, | or /), END_REASONS);
  });

  test("docs/errors.md shows the contract's table of errors", () => {
    const rows = [
      ...readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').matchAll(
        /^\| `(\w+)` \| (\d+) \| (\d+) \| (.+) \| (.+) \|$/gm,
      ),
    ];
    assert.deepEqual(
      rows.map(([, ...cells]) => cells),
      Object.entries(ERRORS).map(([code, { http, sms, text }]) => [
        code,
        String(http),
        String(sms),
        text.en,
        text['zh-CN'],
      ]),
    );
  });

  test('the texts of an error have the same parameters in both languages', () => {
    for (const [code, { text }] of Object.entries(ERRORS)) {
      const names = (language: string) => (language.match(/\{\w+\}/g) ?? []).sort();
      assert.deepEqual(names(text['zh-CN']), names(text.en), code);
    }
  });

  test('every error is met by a test over HTTP', () => {
    const tests = globSync(['test/api/*.test.ts', 'test/support/api/elsewhere.ts'], { cwd: ROOT })
      .filter((file) => !file.endsWith('/contract.test.ts'))
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('');
    const unmet = Object.keys(ERRORS).filter((code) => !new RegExp(`['/ ]${code}\\b`).test(tests));
    assert.deepEqual(unmet.sort(), [...NOT_OVER_HTTP].sort());
  });

  test('every sample fits the contract', () => {
    for (const name of ROUTE_NAMES) {
      const { request, data, sample } = OPERATIONS[name];
      assert.equal(decodeRequest(request, sample.request).kind, 'request', name);
      assert.equal(data.safeParse(sample.data).error, undefined, name);
      if (ROUTES[name].scope !== 'none')
        assert.equal(
          Object.hasOwn(request.fields, Object.keys(COMMON.fields)[0] ?? ''),
          false,
          'access_token is common',
        );
    }
  });
});
