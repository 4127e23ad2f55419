/** The errors of what pages show: part of the table in `errors.ts`. */
import { row } from './error-row.ts';

export const VIEW_ERRORS = {
  watchesFull: row(
    429,
    2010,
    '同时打开的提示流过多：每个令牌至多 {limit} 个',
    'too many streams of hints are open: at most {limit} of a token at once',
  ),
};
