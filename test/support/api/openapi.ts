/** The OpenAPI document as a file: where it lies and what it should be. */
import { join } from 'node:path';
import { buildOpenApi } from '#contract/openapi/document.ts';

export const openApiFile = join(import.meta.dirname, '../../../docs/openapi.json');

export function openApiText(): string {
  return `${JSON.stringify(buildOpenApi('en'), undefined, 2)}\n`;
}
