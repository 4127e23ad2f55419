/** How the text of a setting becomes a value. A reader says what it takes, so a refusal and the documentation agree. */
import { plainNetwork } from './cidr.ts';
import { type ListenAddress, parseListenAddress } from './listen-address.ts';

export interface Reader<T> {
  /** What is taken, in words and with its range: stands in refusals and in the documentation. */
  readonly expected: string;
  /** Gives `undefined` for a text that is not taken. */
  read(text: string): T | undefined;
}

export function wholeNumber(min: number, max: number): Reader<number> {
  return {
    expected: `a whole number from ${min} to ${max}`,
    read: (text) => (/^\d{1,15}$/.test(text) && inRange(Number(text), min, max) ? Number(text) : undefined),
  };
}

const UNITS: Readonly<Record<string, number>> = { '': 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 };

/** A size such as `256MB`, in bytes; the units are powers of 1024. `min` is best far above what a number is that lacks its unit. */
export function byteSize(min: string, max: string): Reader<number> {
  const [low, high] = [bytesOf(min), bytesOf(max)];
  return {
    expected: `a size from ${min} to ${max} (bytes, KB, MB or GB)`,
    read: (text) => {
      const bytes = bytesOf(text);
      return bytes !== undefined && inRange(bytes, low ?? 0, high ?? Number.MAX_SAFE_INTEGER) ? bytes : undefined;
    },
  };
}

export function oneOf<const T extends string>(values: readonly T[]): Reader<T> {
  return { expected: values.join(' or '), read: (text) => values.find((value) => value === text) };
}

/** Separated by commas, in the settings file also an array; empty texts are left out. */
export function listOf<T>(item: Reader<T>, min: number, max: number): Reader<readonly T[]> {
  return {
    expected: `${min} to ${max} separated by commas, each ${item.expected}`,
    read: (text) => {
      const parts = text.split(',').flatMap((part) => part.trim() || []);
      const values = parts.flatMap((part) => item.read(part) ?? []);
      return values.length === parts.length && inRange(values.length, min, max) ? values : undefined;
    },
  };
}

export function listenAddress(): Reader<ListenAddress> {
  return {
    expected: 'host:port or [IPv6]:port; port 0 takes a free one',
    read: parseListenAddress,
  };
}

/** `0` stands for none, where the least size is larger. */
export function zeroOr(reader: Reader<number>): Reader<number> {
  return { expected: `0, or ${reader.expected}`, read: (text) => (text === '0' ? 0 : reader.read(text)) };
}

/** `off` stands for none. */
export function orOff<T>(reader: Reader<T>): Reader<T | 'off'> {
  return { expected: `${reader.expected}, or off`, read: (text) => (text === 'off' ? 'off' : reader.read(text)) };
}

/** `auto` stands for a value that the machine decides. */
export function autoOr<T>(reader: Reader<T>, automatic: T): Reader<T> {
  return { expected: `auto or ${reader.expected}`, read: (text) => (text === 'auto' ? automatic : reader.read(text)) };
}

/** Any text that `matches`. */
export function textThat(expected: string, matches: RegExp): Reader<string> {
  return { expected, read: (text) => (matches.test(text) ? text : undefined) };
}

/** A text that `accepts`, where a pattern does not say it. */
export function textWhere(expected: string, accepts: (text: string) => boolean): Reader<string> {
  return { expected, read: (text) => (accepts(text) ? text : undefined) };
}

export function path(): Reader<string> {
  return textThat('a path', /^[^\0]+$/);
}

export function network(): Reader<string> {
  return textWhere('an address or a network such as 10.0.0.0/8', (text) => plainNetwork(text) !== undefined);
}

export function timeZone(): Reader<string> {
  return textWhere('a time zone such as Asia/Shanghai', isTimeZone);
}

export function postgresUrl(): Reader<string> {
  return textWhere(
    'postgres://user:password@host:port/database (special characters in it percent-encoded)',
    (text) => /^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text),
  );
}

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false; // RangeError: no such time zone
  }
}

function inRange(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

function bytesOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,12})\s*([kmg]b)?$/i.exec(text) ?? [];
  const factor = UNITS[unit.toLowerCase()];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

/** The address of a server, without a path. */
export function serverUrl(): Reader<string> {
  return textWhere(
    'http:// or https:// and a host',
    (text) => /^https?:\/\/[^\s/@]+\/?$/.test(text) && URL.canParse(text),
  );
}
