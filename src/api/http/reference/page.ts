/** The reference of the interface as a page, made of the OpenAPI document. It has no script and asks for nothing else. */

import type { DescribedOperation, OpenApi } from '#contract/openapi/document.ts';
import type { JsonSchema } from '#contract/openapi/schema.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { memberRows, type Row } from './rows.ts';

const WORDS = {
  'zh-CN': {
    title: 'Causeway 接口文档',
    other: ['en', 'English'],
    machine: '供程序使用的 OpenAPI 文档',
    request: '请求',
    answer: '应答中的 data',
    field: '字段',
    type: '类型',
    meaning: '说明',
    required: '必填',
    example: '示例',
    errors: '错误代码',
    code: '代码',
    scope: '令牌权限',
  },
  en: {
    title: 'Causeway interface',
    other: ['zh-CN', '中文'],
    machine: 'OpenAPI document for programs',
    request: 'Request',
    answer: 'data of the answer',
    field: 'Field',
    type: 'Type',
    meaning: 'Meaning',
    required: 'required',
    example: 'Example',
    errors: 'Error codes',
    code: 'Code',
    scope: 'scope of the token',
  },
} as const satisfies Readonly<Record<Locale, unknown>>;

type Words = (typeof WORDS)[Locale];

export function renderReference(document: OpenApi, locale: Locale): string {
  const words = WORDS[locale];
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: Object.entries(document.paths).filter(([, { post }]) => post.tags.includes(name)),
  }));
  const [otherLocale, otherName] = words.other;
  return `<!doctype html>
<html lang="${locale}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>${words.title}</title>
<style>${STYLE}</style>
<body>
<h1>${words.title}</h1>
<p>${toHtml(document.info.description)}</p>
<p><a href="/openapi.json?lang=${locale}">${words.machine}</a> · <a href="/docs?lang=${otherLocale}" lang="${otherLocale}">${otherName}</a></p>
<nav><ul>
${groups.map(({ name, description }) => `<li><a href="#${name}">${toHtml(description)}</a></li>`).join('\n')}
<li><a href="#errors">${words.errors}</a></li>
</ul></nav>
${groups
  .map(
    ({ name, description, operations }) => `<h2 id="${name}">${toHtml(description)}</h2>
${operations.map(([path, { post }]) => renderOperation(path, post, document, words)).join('\n')}`,
  )
  .join('\n')}
<h2 id="errors">${words.errors}</h2>
${renderErrors(document, words)}
</body>
</html>
`;
}

function renderOperation(path: string, operation: DescribedOperation, document: OpenApi, words: Words): string {
  const { operationId, summary, requestBody, responses } = operation;
  const { schemas } = document.components;
  const { schema, example } = requestBody.content['application/json'];
  const answered = responses[200].content['application/json'];
  return `<details>
<summary><code>${path}</code> ${toHtml(summary)}</summary>
<div id="${operationId}">
<p><code>${operationId}</code> · ${words.scope}: <code>${operation['x-scope']}</code>, <code>${operation['x-access']}</code></p>
<h3>${words.request}</h3>
${renderRows(memberRows(schema, schemas), words)}
<h3>${words.answer}</h3>
${renderRows(memberRows(dataOf(operationId, document), schemas), words)}
<h3>${words.example}</h3>
<pre>POST ${path}
Content-Type: application/json; charset=utf-8

${escapeHtml(JSON.stringify(example, undefined, 2))}</pre>
<pre>${escapeHtml(JSON.stringify(answered.example, undefined, 2))}</pre>
</div>
</details>`;
}

/** The data of a successful answer; of an operation that sends, the whole answer. */
function dataOf(operationId: DescribedOperation['operationId'], { paths, components }: OpenApi): JsonSchema {
  const operation = Object.values(paths).find(({ post }) => post.operationId === operationId);
  const answer = named(operation?.post.responses[200].content['application/json'].schema, components.schemas);
  const success = named(answer?.oneOf?.[0], components.schemas);
  return success?.properties?.['data'] ?? success ?? {};
}

function named(ref: JsonSchema | undefined, schemas: OpenApi['components']['schemas']): JsonSchema | undefined {
  return schemas[ref?.$ref?.split('/').at(-1) ?? ''];
}

function renderRows(rows: readonly Row[], words: Words): string {
  return `<table>
<tr><th>${words.field}<th>${words.type}<th>${words.meaning}
${rows
  .map(({ name, isRequired, type, description }) => {
    const mark = isRequired ? ` <b title="${words.required}">*</b>` : '';
    return `<tr><td><code>${escapeHtml(name)}</code>${mark}<td><code>${escapeHtml(type)}</code><td>${toHtml(description)}`;
  })
  .join('\n')}
</table>`;
}

function renderErrors({ components }: OpenApi, words: Words): string {
  const { enum: codes = [], 'x-enum-descriptions': texts } = components.schemas['ErrorCode'] ?? {};
  const meanings = Array.isArray(texts) ? texts : [];
  const rows = codes.map((code, index) => `<tr><td><code>${code}</code><td>${toHtml(String(meanings[index]))}`);
  return `<table>\n<tr><th>${words.code}<th>${words.meaning}\n${rows.join('\n')}\n</table>`;
}

/** Text with code between backquotes. */
function toHtml(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

export const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
nav ul { columns: 16rem; padding-left: 1.2rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid; }
h3 { margin-bottom: 0.25rem; font-size: 1rem; }
details { margin: 0.25rem 0; }
details > div { padding: 0 0 1rem 1.2rem; }
summary { cursor: pointer; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.15rem 0.75rem 0.15rem 0; border-bottom: 1px solid #8884; }
td { overflow-wrap: anywhere; min-width: 6rem; }
code, pre { font: 0.875rem/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; background: #8882; }
`;
