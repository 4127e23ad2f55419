/** The beginning of stage 10: applies the site's settings to an answer. */
import type { EdgeContext } from '../context.ts';
import type { Viewer } from '../viewer.ts';
import { browserHeaders } from './browser-headers.ts';
import { type Asked, compressAnswer } from './compress.ts';
import type { EdgeAnswer } from './edge-answer.ts';

export function finishAnswer(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Asked,
  answer: EdgeAnswer,
): EdgeAnswer | Promise<EdgeAnswer> {
  const finish = (coded: EdgeAnswer) => withBrowserHeaders(asked, coded, edge.clock());
  // Without compression nothing is asynchronous.
  return asked.site.pageCompress ? compressAnswer(viewer, edge, asked, answer).then(finish) : finish(answer);
}

function withBrowserHeaders({ site, request }: Asked, answer: EdgeAnswer, now: number): EdgeAnswer {
  if (answer.response === undefined) return answer;
  const headers = browserHeaders(site, request, answer, now);
  return headers === answer.headers ? answer : { ...answer, headers };
}
