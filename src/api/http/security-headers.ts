/**
 * What Helmet puts on every answer. None of it depends on the request: it is asked once. docs/decisions/0281
 * Answers are JSON, so their policy lets a browser load nothing; pages have policies of their own.
 */
import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

const NOTHING = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };

export function securityHeaders(): Readonly<Record<string, string>> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const contentSecurityPolicy = { useDefaults: false, directives: NOTHING };
  helmet({ contentSecurityPolicy, xFrameOptions: { action: 'deny' } })(request, response, (error) => {
    if (error !== undefined) throw error;
  });
  return Object.fromEntries(response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]));
}

/** Policy of a page without scripts: this style sheet, and an icon of no bytes. */
export function policyOfStyledPage(style: string): string {
  const digest = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${digest}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}
