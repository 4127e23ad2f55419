/** Reads a file that a user has named. */
import { readFileSync } from 'node:fs';

export type TextFile =
  | { readonly kind: 'text'; readonly text: string }
  /** The system's code, such as `ENOENT`. */
  | { readonly kind: 'unreadable'; readonly code: string };

export function readTextFile(path: string): TextFile {
  try {
    return { kind: 'text', text: readFileSync(path, 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return { kind: 'unreadable', code };
  }
}
