// Puts back node_modules/.bin/node where npm 9 removed it (docs/decisions/0009). Plain JavaScript for any Node.
import { existsSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');
const target = join('..', `node-${process.platform}-${process.arch}`, 'bin', 'node');
const link = join(modules, '.bin', 'node');
if (existsSync(join(modules, '.bin', target)) && !existsSync(link)) symlinkSync(target, link);
