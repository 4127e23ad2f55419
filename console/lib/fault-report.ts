/** What a person reports of a page that has failed: nothing that was read or typed. Pure. */

interface Place {
  /** Path of the page, without its query. */
  readonly path: string;
  readonly now: number;
  readonly browser: string;
}

const MAX_LINES = 6;

/** A few lines of text. The names of the files in it say which build it was. */
export function faultReport(error: unknown, { path, now, browser }: Place): string {
  const { name = 'Error', message = String(error), stack = '' } = Object(error);
  const frames = String(stack)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^at |@/.test(line) && !line.includes(message));
  return [`${name}: ${message}`, `${path} ${new Date(now).toISOString()}`, browser, ...frames.slice(0, MAX_LINES)].join(
    '\n',
  );
}
