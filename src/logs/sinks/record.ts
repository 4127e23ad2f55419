/** A line of a spool as a record of a sink: one line of JSON. Pure. docs/decisions/0743 */
import type { LineSink } from '#model/line-sink.ts';
import { LINE_FIELDS } from '../line.ts';
import { idOfPrefix } from '../spooled-line.ts';
import { readLine } from '../tail/read-line.ts';

/**
 * Makes the record of a line, which has one character per byte; `undefined` if the sink does not want the line, or if it
 * is broken. `offset`: of the line in its file, by which it is chosen for a sample, so that a repeated batch has the same
 * records.
 */
export type MakeRecord = (line: string, offset: number) => string | undefined;

export function recordMaker(
  { fields, domainIds, samplePercent }: Pick<LineSink, 'fields' | 'domainIds' | 'samplePercent'>,
  edge: string,
): MakeRecord {
  const domains = domainIds.length === 0 ? undefined : new Set(domainIds);
  return (line, offset) => {
    const tab = line.indexOf('\t');
    const prefix = line.slice(0, Math.max(0, tab));
    if (!/^\d{1,11}$/.test(prefix) || !isSampled(offset, samplePercent)) return undefined;
    const domainId = Number(idOfPrefix(prefix));
    if (domains !== undefined && !domains.has(domainId)) return undefined;
    const text = decode(line.slice(tab + 1));
    if (text.split('\t', LINE_FIELDS.length + 1).length !== LINE_FIELDS.length) return undefined;
    const record = { ...readLine(edge, text), domain_id: domainId };
    return JSON.stringify(Object.fromEntries(fields.map((field) => [field, record[field]])));
  };
}

/** Chooses lines evenly by a multiplicative hash of their offset. */
function isSampled(offset: number, percent: number): boolean {
  return percent >= 100 || (Math.imul(offset, 0x9e3779b1) >>> 0) * 100 < percent * 2 ** 32;
}

function decode(line: string): string {
  return ASCII.test(line) ? line : Buffer.from(line, 'latin1').toString('utf8');
}

const ASCII = /^[\t -~]*$/;
