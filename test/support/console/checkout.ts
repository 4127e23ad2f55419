/** Copies of this checkout that a test may change, with the packages of this one. */
import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { surroundings } from '../process/service.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';
import { buildConsole, DIST, ROOT } from './built-console.ts';

/** What the console is built from, as `console/build.js` lists it. */
const SOURCES = [
  'console',
  'src/client',
  'src/contract',
  'src/model',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

export interface Checkout {
  readonly folder: string;
  /** Builds the console. `before`: words before the command. */
  build(before?: readonly string[]): { readonly status: number | null; readonly said: string };
}

/** Copies the sources of the console with what is built of them, and `more`. */
export function copyBuilt(t: Cleanup, more: readonly string[] = []): Checkout {
  buildConsole();
  const checkout = copyCheckout(t, more);
  cpSync(DIST, join(checkout.folder, 'console/dist'), { recursive: true });
  return checkout;
}

/** Copies the sources of the console, and `more`. Nothing is built. */
export function copyCheckout(t: Cleanup, more: readonly string[] = []): Checkout {
  const folder = temporaryFolder(t);
  const isCopied = (path: string) => path !== DIST && !path.startsWith(`${DIST}.`);
  for (const path of [...SOURCES, ...more])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isCopied });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    build: (before = []) => {
      const [program = '', ...args] = [...before, process.execPath, join(folder, 'console/build.js')];
      const { status, stdout, stderr } = spawnSync(program, args, { env: surroundings(), encoding: 'utf8' });
      return { status, said: stdout + stderr };
    },
  };
}
