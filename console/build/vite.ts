/** How Vite compiles the console, for the build and for the development server. Nothing outside the checkout has a say in it. */
import { join } from 'node:path';
import type { InlineConfig } from 'vite';

export const CONSOLE = join(import.meta.dirname, '..');

/** Path below which control serves the console. */
export const BASE = '/console/';

export const VITE_OPTIONS = {
  root: CONSOLE,
  base: BASE,
  configFile: false,
  envDir: false,
  publicDir: false,
  css: { postcss: {} }, // otherwise looked for in all folders above
  esbuild: { jsx: 'automatic' },
} satisfies InlineConfig;
