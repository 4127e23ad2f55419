/** What a receiver answered to a test post. */
import * as z from 'zod';
import { MAX_SHOWN_ANSWER } from '../../model/webhook.ts';

export const POST_ANSWER = z
  .object({
    status: z.int().describe('HTTP status of the answer; 0: there was none'),
    reason: z.string().describe('why there was no answer, such as timeout; empty: there was one'),
    took_ms: z.int(),
    answer: z.string().describe(`the first ${MAX_SHOWN_ANSWER} characters of the answer's body, read as UTF-8`),
  })
  .meta({ id: 'PostAnswer' });
