/**
 * Structured logs: one JSON line per event on stderr (stdout is for people and programs that read a command's answer).
 * No line carries a secret: the finished line is cleaned, so depth, bindings and texts inside texts make no difference.
 */
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { LogSink, openStandardError } from './log-sink.ts';

export type Logger = PinoLogger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  readonly level: LogLevel;
  /** The part of the service that speaks: `control`, `edge-worker`, … */
  readonly name: string;
  /** Where lines go; standard error when absent. */
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

/** Bounded, or a long text from a client would cost the square of its length. */
const SECRET_NAME = String.raw`[\w-]{0,40}(?:token|secret|password|private_?key|authorization)`;

/** A member with a text value. */
const SECRET_MEMBER = new RegExp(String.raw`"(${SECRET_NAME})":"(?:\\.|[^"\\])*"`, 'gi');

/** The same in JSON that itself stands in a text: its quotes have backslashes, and quotes in the value have more of them. */
const NESTED_MEMBER = new RegExp(String.raw`(?<!\\)(\\+)"(${SECRET_NAME})\1":\1".*?(?<!\\)\1"`, 'gi');

/** A query parameter or form field. */
const SECRET_FIELD = new RegExp(String.raw`\b(${SECRET_NAME})=[^&\s"\\]+`, 'gi');

/** The password in a URL; up to the last @, for people forget to encode one. */
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"]*):[^\s/"]+@/gi;

/** Replaces the values of everything that is named like a secret by `***`. */
export function hideSecrets(line: string): string {
  return line
    .replace(SECRET_MEMBER, '"$1":"***"')
    .replace(NESTED_MEMBER, '$1"$2$1":$1"***$1"')
    .replace(SECRET_FIELD, '$1=***')
    .replace(URL_PASSWORD, '$1:***@');
}
