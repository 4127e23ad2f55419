/**
 * Forwards the output of the parts to the one log of the service. Only the supervisor writes to standard error, so a
 * slow reader delays no part, lines do not mix, and the last output of the engine is logged, too.
 */
import type { Readable } from 'node:stream';
import type { LogSink } from '#lib/log-sink.ts';
import { hideSecrets } from '#lib/logger.ts';

/** A longer line is forwarded in pieces. */
const MAX_LINE_CHARS = 64 * 1024;

export function forwardLines(output: Readable, sink: Pick<LogSink, 'write'>): void {
  let rest = '';
  const forward = (line: string) => sink.write(`${line.startsWith('{') ? line : hideSecrets(line)}\n`); // JSON is clean
  output.setEncoding('utf8');
  output.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) forward(line);
    if (rest.length <= MAX_LINE_CHARS) return;
    forward(rest);
    rest = '';
  });
  output.on('end', () => {
    if (rest !== '') forward(rest);
  });
  output.on('error', () => {}); // the end of the process, which is handled elsewhere
}
