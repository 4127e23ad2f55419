/** Writes docs/openapi.json anew from the contract: `node test/support/api/write-openapi.ts`. */
import { writeFileSync } from 'node:fs';
import { openApiFile, openApiText } from './openapi.ts';

writeFileSync(openApiFile, openApiText());
