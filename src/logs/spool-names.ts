/** How the files of spools are called. Pure. */

export const CURRENT_LOG = '.log';
export const CURRENT_JOURNAL = '.stats';

const FINISHED = /^(.+)-(\d{8}T\d{9}Z-\d{4})\.log$/;

export function isSpoolName(name: string): boolean {
  return /^[a-z0-9-]+$/.test(name);
}

/** Of a log file that takes no more lines. */
export function finishedName(name: string, now: number, sequence: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:.]/g, '');
  return `${name}-${stamp}-${String(sequence % 10_000).padStart(4, '0')}${CURRENT_LOG}`;
}

/** Of the spool `name`, or of any. */
export function isFinishedLog(file: string, name?: string): boolean {
  const found = FINISHED.exec(file);
  return found !== null && (name === undefined || found[1] === name);
}

export function journalOf(log: string): string {
  return log.slice(0, -CURRENT_LOG.length) + CURRENT_JOURNAL;
}

export function logOf(journal: string): string {
  return journal.slice(0, -CURRENT_JOURNAL.length) + CURRENT_LOG;
}
