/** Times on the command line: days in the service's time zone, and moments. */
import type { Command } from 'commander';
import { ClientError } from '#client/client-error.ts';
import type { CallOf } from '#contract/operations.ts';
import { createLocalTime, firstSecondOf, instantOf, lastSecondOf } from '#lib/local-time.ts';
import { type CliContext, CliError } from './context.ts';
import { givenSettings, type Options, textOption } from './options.ts';

/** Time zone of the settings that the command finds. */
export const ZONE = 'configured time zone';

export function addTimes(command: Command): Command {
  return command
    .option('--from <time>', `start: a day such as 2026-01-31 (in the ${ZONE}) or a time such as 2026-01-31T12:00:00Z`)
    .option('--to <time>', 'end, inclusive, in the same format; a day is included whole');
}

/** Times of a command with `addTimes`. */
export function timesOf(context: CliContext, options: Options): Pick<CallOf<'log.list'>, 'starttime' | 'endtime'> {
  const { timeZone } = context.loadSettings(givenSettings(context, options));
  const [from, to] = [textOption(options, 'from'), textOption(options, 'to')];
  return {
    ...(from !== undefined && { starttime: unixTime('--from', from, firstSecondOf(from, timeZone)) }),
    ...(to !== undefined && { endtime: unixTime('--to', to, lastSecondOf(to, timeZone)) }),
  };
}

/** The beginning of a day, or a moment, in Unix seconds. */
export function momentOf(context: CliContext, options: Options, name: string): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const { timeZone } = context.loadSettings(givenSettings(context, options));
  const time = unixTime(`--${name}`, text, firstSecondOf(text, timeZone));
  return time.length > 10 ? Math.floor(Number(time) / 1000) : Number(time);
}

/** How times are printed for people: `2026-01-31T20:00:00+08:00`, in the zone of the setting. docs/decisions/0506 */
export interface TimeTexts {
  /** Text of a time in Unix seconds. 0, which stands for no time, becomes `-`. */
  ofSeconds(seconds: number): string;
  /** Text of a time as the service writes it, such as `2026-01-31 20:00:00`. An empty text stays empty. */
  ofLocal(text: string): string;
}

export function timeTexts(context: CliContext, options: Options): TimeTexts {
  const { timeZone } = context.loadSettings(givenSettings(context, options));
  const localTime = createLocalTime(timeZone);
  const format = (at: number) => localTime.format(at).replace('.000', '');
  return {
    ofSeconds: (seconds) => (seconds === 0 ? '-' : format(seconds * 1000)),
    ofLocal(text) {
      const at = instantOf(text, timeZone);
      return at === undefined ? text : format(at);
    },
  };
}

/** Awaits a call that sends a time. If the service refuses it as past, the error names the option and the time: `given`. */
export async function expectFuture<T>(option: string, given: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ClientError) || !PAST_CODES.includes(String(error.code))) throw error;
    throw new CliError(`${option}: expected a time in the future, not ${given}`, { cause: error });
  }
}

const PAST_CODES: readonly string[] = ['resumePast', 'expiryPast'];

/** Returns the time as the interface takes it; digits are passed on unchanged. `secondOfDay`: the result if the text is a day. */
function unixTime(option: string, text: string, secondOfDay: number | undefined): string {
  if (secondOfDay !== undefined) return String(secondOfDay);
  if (/^\d{1,10}$|^\d{13}$/.test(text)) return text;
  const moment = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (moment >= 1e12) return String(moment);
  if (moment >= 0) return String(Math.floor(moment / 1000)); // 13 digits are milliseconds, fewer are seconds
  throw new CliError(`${option}: expected a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z`);
}
