/** Which documents are wrapped. */
import { globSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
/** One entry is one line in the changelog and in the index of decisions; the interface document is kept as it was given. */
const AS_THEY_ARE = ['CHANGELOG.md', 'docs/decisions/README.md', 'docs/interface.md'];

/** Absolute paths. */
export function wrappedDocuments(): string[] {
  return globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT, exclude: AS_THEY_ARE })
    .sort()
    .map((file) => join(ROOT, file));
}
