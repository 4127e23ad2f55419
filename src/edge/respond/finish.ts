/** Stage 10, before it is sent: what the site's settings change about an answer for its client. */
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
  // What costs nothing where nothing is coded is not waited for either.
  return asked.site.pageCompress ? compressAnswer(viewer, edge, asked, answer).then(finish) : finish(answer);
}

function withBrowserHeaders({ site, request }: Asked, answer: EdgeAnswer, now: number): EdgeAnswer {
  if (answer.response === undefined) return answer;
  const headers = browserHeaders(site, request, answer, now);
  return headers === answer.headers ? answer : { ...answer, headers };
}
