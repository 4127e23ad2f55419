/**
 * `GET /` on control: leads browsers to the console, and explains this address in both languages where there is none, without
 * version or host.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CONSOLE_PATH } from './console/serve-console.ts';

export const FRONT_PATH = '/';

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Causeway</title>
<body>
<h1>Causeway</h1>
<div lang="zh-CN">
<p>这里是管理与短信接口。所有操作均为 POST 请求，请求体为 JSON，由程序或 <code>causeway</code> 命令调用。</p>
<p>操作说明：<a href="/docs?lang=zh-CN">/docs</a>；供程序使用：<a href="/openapi.json">/openapi.json</a>。运行状态：<a href="/healthz">/healthz</a>、<a href="/readyz">/readyz</a>。</p>
</div>
<div lang="en">
<p>This is the management and SMS interface. Every operation is a POST request with a JSON body, made by a program or by the
<code>causeway</code> command.</p>
<p>Operations: <a href="/docs?lang=en">/docs</a>, for programs: <a href="/openapi.json">/openapi.json</a>. Health: <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>.</p>
</div>
</body>
</html>
`;

export interface FrontPageOptions {
  readonly hasConsole: boolean;
  /** Called once for each request that is answered. */
  note(request: FastifyRequest): void;
}

export function addFrontPage(app: FastifyInstance, { hasConsole, note }: FrontPageOptions): void {
  app.get(FRONT_PATH, (request, reply) => {
    note(request);
    reply.headers({ 'cache-control': 'no-store', vary: 'Accept' });
    if (hasConsole && isBrowser(request)) return reply.redirect(CONSOLE_PATH);
    return reply.type('text/html; charset=utf-8').send(PAGE);
  });
}

/** Browsers name the type; programs take anything. */
function isBrowser({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}
