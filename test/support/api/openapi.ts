/** The OpenAPI document as a file: where it lies and what it should be. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOpenApi } from './build-openapi.ts';

const root = join(import.meta.dirname, '../../..');

export const openApiFile = join(root, 'docs/openapi.json');

export function openApiText(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return `${JSON.stringify(buildOpenApi(version), undefined, 2)}\n`;
}
