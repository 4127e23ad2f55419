/** The OpenAPI document for generators of clients: what independent programs make of it, and how control serves it. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { ERRORS } from '#contract/errors/errors.ts';
import { buildOpenApi, type DescribedOperation } from '#contract/openapi/document.ts';
import { ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import { startTestApi } from '../support/api/api.ts';
import { newSqlite } from '../support/db/databases.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const GENERATOR = join(ROOT, 'packaging/openapi-typescript/node_modules/.bin/openapi-typescript');

/** The generated file, as the program that uses it names it. */
const TYPES = './api.ts';

const DOCUMENT = buildOpenApi('en');
const OPERATIONS = Object.values(DOCUMENT.paths).map(({ post }) => post);

/** What a second parser, with rules of its own, finds wrong. */
async function problemsOf(document: object): Promise<readonly string[]> {
  const rules = {
    struct: 'error',
    'no-unresolved-refs': 'error',
    'no-unused-components': 'error',
    'operation-operationId-unique': 'error',
    'operation-operationId-url-safe': 'error',
    'operation-tag-defined': 'error',
    'operation-summary': 'error',
    'path-declaration-must-exist': 'error',
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
    'no-required-schema-properties-undefined': 'error',
  } as const;
  const config = await createConfig({ rules });
  const found = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
  return found.map(({ ruleId, message, location: [place] }) => `${ruleId}: ${message} ${place?.pointer ?? ''}`);
}

describe('the OpenAPI document', () => {
  test('every object with several members that operations share has a name', () => {
    const places = new Map<string, string[]>();
    const visit = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { properties } = value as { readonly properties?: object };
      if (properties !== undefined && Object.keys(properties).length > 1) {
        const text = JSON.stringify(value);
        places.set(text, [...(places.get(text) ?? []), place]);
      }
      for (const [name, inner] of Object.entries(value)) visit(inner, `${place}/${name}`);
    };
    visit(DOCUMENT.components.schemas, '');
    // Requests have names of their own, also if they have the same fields.
    const within = [...places.values()].map((where) => where.filter((place) => !/^\/\w+Request$/.test(place)));
    const shared = within.filter((where) => where.length > 1);
    assert.deepEqual(shared, []);
    assert.ok(DOCUMENT.components.schemas['Domain'] && places.size > 100);
  });

  test('each operation has a named request and a named answer, whose status tells success from failure', () => {
    const { schemas } = DOCUMENT.components;
    const named = (value: { readonly $ref?: string } | undefined) => schemas[value?.$ref?.split('/').at(-1) ?? ''];
    for (const { operationId, requestBody, responses } of OPERATIONS) {
      const asked = named(requestBody.content['application/json'].schema);
      const token = asked?.properties?.['access_token'];
      if (ROUTES[operationId].scope === 'person') assert.equal(token, undefined, operationId);
      else if (ROUTES[operationId].scope !== 'none') assert.ok(token?.$ref?.endsWith('/AccessToken'), operationId);
      const answer = named(responses[200].content['application/json'].schema);
      const { envelope } = ROUTES[operationId];
      const [succeeded, failed] = (answer?.oneOf ?? []).map((ref) => {
        const tag = named(ref)?.properties?.[envelope === 'smsSend' ? 'code' : 'status'];
        return tag?.enum ?? [tag?.const];
      });
      assert.deepEqual(succeeded, [envelope === 'cdn' ? 1 : 1000], operationId);
      assert.ok(failed !== undefined && failed.length > 0 && !failed.includes(succeeded?.[0]));
    }
    assert.deepEqual(schemas['ErrorCode']?.enum, Object.keys(ERRORS));
  });

  test('a second parser finds nothing wrong, and every example fits its schema', async () => {
    assert.deepEqual(await problemsOf(DOCUMENT), []);
    const broken = structuredClone(DOCUMENT) as {
      paths: Record<string, { post: { -readonly [K in keyof DescribedOperation]: DescribedOperation[K] } }>;
    };
    const add = broken.paths['/domain/addDomain']?.post;
    assert.ok(add !== undefined);
    Object.assign(add.requestBody.content['application/json'], { example: { access_token: 'a', domain: {} } });
    const problems = await problemsOf(broken);
    assert.match(problems.join(), /no-invalid-media-type-examples/);
  });

  test('types that openapi-typescript makes compile, and a call can be written with them', (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(DOCUMENT));
    execFileSync(GENERATOR, ['openapi.json', '--output', 'api.ts'], { cwd: folder, stdio: 'pipe' });
    const use = `import type { operations } from '${TYPES}';
type Add = operations['domain.add'];
type Asked = Add['requestBody']['content']['application/json'];
type Answer = Add['responses'][200]['content']['application/json'];
export const asked: Asked = { access_token: 'a', domain: 'www.example.com', cdn_type: '1', data: ['192.0.2.1'] };
export function idOf(answer: Answer): string {
  return answer.status === 1 ? answer.data.domain_id : answer.info;
}
`;
    const compile = (text: string) => {
      writeFileSync(join(folder, 'use.ts'), text);
      const options = [
        '--strict',
        '--noEmit',
        '--target',
        'esnext',
        '--module',
        'nodenext',
        '--allowImportingTsExtensions',
        '--types',
        '',
      ];
      return spawnSync(TSC, [...options, 'use.ts'], { cwd: folder, encoding: 'utf8' });
    };
    const compiled = compile(use);
    assert.equal(compiled.status, 0, compiled.stdout);
    assert.match(compile(use.replace("'1'", "'7'")).stdout, /use\.ts\(5,.*cdn_type|Type '"7"'/);
  });
});

describe('the reference that control serves', () => {
  test('the document and the page come in the language of the request, can be cached, and name every operation', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const get = (path: string, headers: Record<string, string> = {}) => fetch(api.url + path, { headers });
    const document = await get('/openapi.json', { 'accept-language': 'en' });
    assert.deepEqual(await document.json(), JSON.parse(JSON.stringify(DOCUMENT)));
    const chinese = await get('/openapi.json');
    assert.match(
      (Object(await chinese.json()) as typeof DOCUMENT).paths['/domain/addDomain']?.post.summary ?? '',
      /添加域名/,
    );
    assert.deepEqual(
      [document, chinese].map(({ headers }) => [headers.get('content-language'), headers.get('vary')]),
      [
        ['en', 'Accept-Language'],
        ['zh-CN', 'Accept-Language'],
      ],
    );
    const etag = document.headers.get('etag') ?? '';
    assert.notEqual(etag, chinese.headers.get('etag'));
    assert.match(document.headers.get('cache-control') ?? '', /^public, max-age=\d+$/);
    const again = await get('/openapi.json?lang=en', { 'if-none-match': `W/${etag}` });
    assert.deepEqual([again.status, await again.text(), again.headers.get('etag')], [304, '', etag]);
    assert.equal((await fetch(`${api.url}/openapi.json`, { method: 'HEAD' })).status, 200);
    const refused = await api.post('/docs', {});
    assert.deepEqual([refused.http, refused.headers.get('allow')], [405, 'GET, HEAD']);

    for (const language of ['en', 'zh-CN']) {
      const page = await get(`/docs?lang=${language}`);
      const text = await page.text();
      assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-/);
      for (const name of ROUTE_NAMES) {
        assert.ok(text.includes(`id="${name}"`), name);
        assert.ok(text.includes(`<code>${ROUTES[name].path}</code>`), name);
      }
      for (const code of Object.keys(ERRORS)) assert.ok(text.includes(`<code>${code}</code>`), code);
      assert.doesNotMatch(text, /\bundefined\b|\[object/);
      assert.match(text, language === 'en' ? /<h3>Request<\/h3>/ : /<h3>请求<\/h3>/);
    }
    assert.match(api.logLines.join(), /"path":"\/docs"/);
  });

  test('a browser shows the page without a request to anywhere', needs('chromium', { timeout: 180_000 }), async (t) => {
    const api = await startTestApi(t, newSqlite);
    const home = temporaryFolder(t);
    const isolated = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--user-data-dir=${home}`,
    ];
    const { stdout } = await promisify(execFile)(
      obtain('chromium'),
      [...isolated, '--dump-dom', `${api.url}/docs?lang=en#domain.add`],
      { timeout: 90_000, maxBuffer: 64 * 2 ** 20 },
    );
    assert.match(stdout, /<summary><code>\/domain\/addDomain<\/code>/);
    const asked = api.logLines.filter((line) => line.includes('"request"'));
    assert.deepEqual(
      asked.map((line) => JSON.parse(line).path),
      ['/docs'],
    );
    const foreign = [...stdout.matchAll(/\b(?:src|href|action)="([^"]*)"/g)].flatMap(([, url = '']) =>
      /^(?:#|\/(?!\/)|data:,$)/.test(url) ? [] : [url],
    );
    assert.deepEqual(foreign, []);
  });
});
