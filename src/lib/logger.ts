/**
 * Structured logs: one JSON line per event on stderr (stdout is for a command's output). Secrets are removed from the
 * finished line, so nesting and bindings make no difference.
 */
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { LogSink, openStandardError } from './log-sink.ts';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** The logging component: `control`, `edge-worker`, … */
  readonly name: string;
  /** Destination of lines; standard error if absent. */
  readonly destination?: DestinationStream;
}

export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      name: options.name,
      level: options.level,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: hideSecrets },
    },
    options.destination ?? (options.level === 'silent' ? NOWHERE : openLogSink(options.name)),
  );
}

const NOWHERE: DestinationStream = { write() {} };

/** Opens a sink to standard error that never blocks: a line that cannot be written at once is lost. */
export function openLogSink(name: string): LogSink {
  return new LogSink(openStandardError(), (lostLines) => {
    const time = new Date().toISOString();
    const msg = 'standard error did not take every line of the log; the number is that since the start';
    return `${JSON.stringify({ level: 'warn', time, pid: process.pid, name, lostLines, msg })}\n`;
  });
}

/** Bounded, since a long text from a client would otherwise take quadratic time. */
const SECRET_NAME = String.raw`[\w-]{0,40}(?:token|secret|password|private_?key|authorization)`;

/** A JSON member with a string value. */
const SECRET_MEMBER = new RegExp(String.raw`"(${SECRET_NAME})":"(?:\\.|[^"\\])*"`, 'gi');

/** The same in JSON within a JSON string: its quotes are escaped, and quotes in its value more often. */
const NESTED_MEMBER = new RegExp(String.raw`(?<!\\)(\\+)"(${SECRET_NAME})\1":\1".*?(?<!\\)\1"`, 'gi');

/** A query parameter or form field. */
const SECRET_FIELD = new RegExp(String.raw`\b(${SECRET_NAME})=[^&\s"\\]+`, 'gi');

/** The password in a URL, up to the last @, since an @ in it is often not encoded. */
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"]*):[^\s/"]+@/gi;

/** Replaces the values of everything named like a secret with `***`. */
export function hideSecrets(line: string): string {
  return line
    .replace(SECRET_MEMBER, '"$1":"***"')
    .replace(NESTED_MEMBER, '$1"$2$1":$1"***$1"')
    .replace(SECRET_FIELD, '$1=***')
    .replace(URL_PASSWORD, '$1:***@');
}
