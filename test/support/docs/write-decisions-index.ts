/** Writes docs/decisions/README.md anew from the records: `node test/support/docs/write-decisions-index.ts`. */
import { writeFileSync } from 'node:fs';
import { decisionsIndex, INDEX_FILE } from './decisions-index.ts';

writeFileSync(INDEX_FILE, decisionsIndex());
