/** Writes a client: `node packaging/clients/generate.ts python|go [FILE of the OpenAPI document] > FILE`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApi } from '#contract/openapi/document.ts';
import { writeGo } from './go.ts';
import { writePython } from './python.ts';

const LANGUAGES = {
  python: { write: writePython, runtime: 'causeway.py' },
  go: { write: writeGo, runtime: 'causeway.go' },
} as const;

const [language = '', file = join(import.meta.dirname, '../../docs/openapi.json')] = process.argv.slice(2);
if (language !== 'python' && language !== 'go') {
  process.stderr.write('usage: node packaging/clients/generate.ts python|go [FILE]\n');
  process.exit(2);
}
const { write, runtime } = LANGUAGES[language];
const document: OpenApi = JSON.parse(readFileSync(file, 'utf8'));
process.stdout.write(write(document, readFileSync(join(import.meta.dirname, 'runtime', runtime), 'utf8')));
