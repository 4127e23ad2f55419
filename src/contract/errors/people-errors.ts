/** The errors of people and their sessions: part of the table in `errors.ts`. */
import { row } from './error-row.ts';

export const PEOPLE_ERRORS = {
  notSignedIn: row(200, 2013, '尚未登录：请求没有会话 Cookie', 'not signed in: the request has no session cookie'),
  sessionEnded: row(200, 2013, '会话已结束，请重新登录', 'the session has ended; sign in again'),
  crossSite: row(
    403,
    2003,
    '请求来自其他网站：带会话 Cookie 的请求应由控制台自己的页面发出',
    "cross-site request: expected a call with a session cookie to come from the console's own pages",
  ),
} as const;
