/** `npm run bench -- <name>` runs `bench/<name>.ts`; without a name it lists them. Figures go to docs/benchmarks.md by hand. */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';

const names = globSync('*.ts', { cwd: import.meta.dirname }).map((file) => basename(file, '.ts'));
const known = names.filter((name) => name !== 'run').sort();
const name = process.argv[2] ?? '';
if (known.includes(name)) await import(join(import.meta.dirname, `${name}.ts`));
else console.error(`which one? ${known.join(', ')}`);
