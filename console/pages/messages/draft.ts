/** A message that is being written, and what it becomes on the wire. Pure. */
import type { CallOf } from '#contract/operations.ts';
import { isWholeNumber, plainNumber } from './message-search.ts';

/** `notice`: an ordinary message of `smsType` 2. */
export const MESSAGE_KINDS = ['ordinary', 'notice', 'advertising'] as const;

export interface Draft {
  /** Key of the service. */
  readonly app: string;
  readonly kind: (typeof MESSAGE_KINDS)[number];
  /** The text of the field. */
  readonly numbers: string;
  readonly text: string;
}

export function numbersOf({ numbers }: Pick<Draft, 'numbers'>): readonly string[] {
  return numbers
    .split(/[,\uff0c;\uff1b\n]/)
    .map(plainNumber)
    .filter((number) => number !== '');
}

/** Whether all numbers look finished; one that is being typed is not asked about. */
export function areWhole(draft: Pick<Draft, 'numbers'>): boolean {
  return numbersOf(draft).every(isWholeNumber);
}

/** `areMeant`: the numbers are finished. */
export function splitRequest(draft: Draft, areMeant: boolean): CallOf<'sms.split'> {
  const mobile = numbersOf(draft).join(',');
  return {
    app_key: draft.app,
    kind: draft.kind === 'advertising' ? 'advertising' : 'ordinary',
    content: encodeURIComponent(draft.text.toWellFormed()),
    ...(areMeant && mobile !== '' && { mobile }),
  };
}

/** `time` makes it one request, however often it is sent. */
export function sendRequest(draft: Draft, time: number): CallOf<'sms.advertising'> & CallOf<'sms.ordinary'> {
  return {
    app_key: draft.app,
    mobile: numbersOf(draft).join(','),
    content: encodeURIComponent(draft.text.toWellFormed()),
    time: String(time),
    ...(draft.kind === 'notice' && { smsType: 2 }),
  };
}

/** A draft that was sent and not answered yet, or whose answer was lost. */
export interface Attempt {
  readonly draft: Draft;
  /** Unix milliseconds of the first attempt. */
  readonly time: number;
}

/** The same draft keeps the time of its first attempt: the service takes a repetition as the same request. */
export function attemptOf(before: Attempt | undefined, draft: Draft, now: number): Attempt {
  return before !== undefined && JSON.stringify(before.draft) === JSON.stringify(draft) ? before : { draft, time: now };
}
