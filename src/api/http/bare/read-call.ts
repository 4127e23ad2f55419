/**
 * A call as nearly every client sends it, read off the bytes of its connection. Whatever node:http would refuse or could understand
 * otherwise, and whatever is answered with anything but the call's own answer, is left to it. docs/decisions/0380
 */
import { STREAMING } from '#contract/route-kinds.ts';
import type { RouteName } from '#contract/routes.ts';
import { isForOtherHost, toOriginForm } from '#http/absolute-form.ts';
import { trimOws } from '#http/headers.ts';
import { findRoute, isSmsPath } from '../../call-answer.ts';
import { CALL_FIELDS, type CallField, type CallFields } from '../../calls/call-fields.ts';
import { type Requester, requestIdOf, saidBy } from '../../calls/requester.ts';
import { MAX_BODY_BYTES, refusalOfContentType } from '../body.ts';

export interface ReadCall extends Omit<Requester, 'peer'> {
  readonly name: RouteName;
  readonly requestId: string;
  /** `Connection: close`: no request comes behind it. */
  readonly isLast: boolean;
  /** Where its body stands in the bytes that it was read from; `end` is behind it. */
  readonly bodyStart: number;
  readonly end: number;
}

/** Half of what node:http takes; programs send some hundred bytes. */
const MAX_HEAD_BYTES = 8 * 1024;
const MAX_FIELDS = 50;

/**
 * The first call in `bytes`. `incomplete`: what is there is the beginning of something that may be a call when it is whole. `other`:
 * not for this reader, whatever comes.
 */
export function readCall(bytes: Buffer): ReadCall | 'incomplete' | 'other' {
  const text = bytes.toString('latin1', 0, MAX_HEAD_BYTES);
  const lineEnd = text.indexOf('\r\n');
  const headEnd = text.indexOf('\r\n\r\n', lineEnd);
  if (headEnd === -1) return text.length < MAX_HEAD_BYTES && mayBegin(bytes) ? 'incomplete' : 'other';
  const target = REQUEST_LINE.exec(text.slice(0, lineEnd))?.[1] ?? '';
  const path = toOriginForm(target);
  const name = findRoute(path);
  const fields = name === undefined ? undefined : readFields(text.slice(lineEnd + 2, headEnd + 2));
  if (name === undefined || fields?.host === undefined || STREAMING.has(name)) return 'other'; // RFC 9112 §3.2
  if (isForOtherHost(target, fields.host)) return 'other';
  const { connection = 'keep-alive', 'content-length': length = '' } = fields;
  const isLast = connection.toLowerCase() === 'close';
  if (!isLast && connection.toLowerCase() !== 'keep-alive') return 'other';
  if (refusalOfContentType(fields, { mayLack: isSmsPath(path) }) !== undefined) return 'other';
  if (!CONTENT_LENGTH.test(length) || Number(length) > MAX_BODY_BYTES) return 'other';
  const bodyStart = headEnd + 4;
  const end = bodyStart + Number(length);
  if (end > bytes.length) return 'incomplete';
  const said = saidBy(fields);
  const requestId = requestIdOf(fields['x-request-id'] && ownText(fields['x-request-id']));
  const forwardedFor = said.forwardedFor && ownText(said.forwardedFor);
  return { ...said, forwardedFor, name, requestId, isLast, bodyStart, end };
}

/** `undefined`: with one of them, or one that comes twice, the request is not for this reader. */
function readFields(lines: string): CallFields | undefined {
  if (!LINES.test(lines)) return undefined;
  const fields: { -readonly [N in keyof CallFields]: CallFields[N] } = {};
  for (let at = 0, count = 0; at < lines.length; count++) {
    if (count === MAX_FIELDS) return undefined;
    const colon = lines.indexOf(':', at);
    const end = lines.indexOf('\r', colon);
    const kind = FIELDS.get(lines.slice(at, colon).toLowerCase());
    if (kind !== undefined) {
      if (kind === 'notOurs' || fields[kind] !== undefined) return undefined;
      fields[kind] = trimOws(lines.slice(colon + 1, end));
    }
    at = end + 2;
  }
  return fields;
}

/** An address is remembered: as a part of the head it would keep all of that in memory. */
function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function mayBegin(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, BEGINNING.length);
  return BEGINNING.compare(bytes, 0, length, 0, length) === 0;
}

/**
 * Fields that change how the message is read, what is answered before its end, or what connection this is; and cookies:
 * what browsers send is left to node:http.
 */
const NOT_OURS = [
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'proxy-connection',
  'trailer',
  'cookie',
];

/** Fields that a call depends on, each of which may occur once. */
const FIELDS: ReadonlyMap<string, CallField | 'notOurs'> = new Map([
  ...CALL_FIELDS.map((name) => [name, name] as const),
  ...NOT_OURS.map((name) => [name, 'notOurs'] as const),
]);

const BEGINNING = Buffer.from('POST ');
const REQUEST_LINE = /^POST ([!-~]+) HTTP\/1\.1$/;
/** RFC 9110 §5.1, §5.5. No bare CR or LF is in them, and no second way to read them. */
const LINES = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)+$/;
/** An empty body is refused before the call. */
const CONTENT_LENGTH = /^[1-9]\d{0,6}$/;
