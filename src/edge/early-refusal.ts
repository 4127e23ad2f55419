/** How a request is refused before the stages see it: while it arrives, by the reader of its connection. */
import type { RequestFault } from './reasons.ts';

export interface Refusal {
  readonly status: 400 | 405 | 408 | 414 | 431 | 505;
  readonly reason: RequestFault;
  /** A sentence for the body. */
  readonly explanation?: string;
}

export const REFUSAL_TYPE = 'text/plain; charset=utf-8';
