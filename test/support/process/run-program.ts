/** Runs a program of the tests to its end. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What it printed; rejects when it ends with another code than 0. */
export async function runProgram(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}
