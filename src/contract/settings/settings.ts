/** Plain settings of domains and SMS services on the wire, and in commands: a row for each member of the model's tables. */
import { CACHE_SETTINGS, HTTPS_SETTINGS, SWITCHES, VALIDITIES } from '../../model/settings.ts';
import { SMS_APP_SETTINGS } from '../../model/sms-app.ts';
import { wireSettings } from './wire-settings.ts';

const A_YEAR = {
  'zh-CN': `0 到 ${VALIDITIES.expiresSeconds.max}（一年）的秒数`,
  en: `a whole number of seconds, from 0 to ${VALIDITIES.expiresSeconds.max} (a year)`,
};

/** Switches of the advanced configuration and of the domain object. */
export const WIRE_SWITCHES = wireSettings(SWITCHES, {
  ignoresQuery: {
    wire: 'keep_url_params',
    means: 'parameter filtering',
    sample: true,
    help: 'ignore the query string in cache keys',
  },
  prefixCacheFirst: {
    wire: 'prefix_cache_first',
    means: 'directory cache priority',
    help: 'match cache policies for directories first',
  },
  sslControl: { wire: 'ssl_control', means: 'TLS acceleration', isSetElsewhere: true },
  redirectFollow: {
    wire: 'redirect_follow',
    means: 'redirect following',
    sample: true,
    help: "follow the origin's redirects",
  },
  pageCompress: { wire: 'page_compress', means: 'smart compression', sample: true, help: 'compress text responses' },
  rangeBackSource: {
    wire: 'range_back_source',
    means: 'range origin fetch',
    help: 'fetch large objects in slices',
  },
});

/** The meaning of these two is settled in docs/decisions/0003. */
export const WIRE_VALIDITIES = wireSettings(VALIDITIES, {
  expiresSeconds: {
    wire: 'expires',
    means: 'browser cache validity in seconds',
    expects: A_YEAR,
    sample: 3600,
    help: 'how long browsers cache responses; 0: as the origin specifies',
  },
  accessControlMaxAgeSeconds: {
    wire: 'access_control_max_age',
    means: "validity of a preflight request's result in seconds",
    expects: A_YEAR,
    sample: 600,
    help: 'how long browsers cache preflight results; 0: as the origin specifies',
  },
});

export const WIRE_CACHE_SETTINGS = wireSettings(CACHE_SETTINGS, {
  setCookie: {
    wire: 'set_cookie',
    means: 'what becomes of a response with Set-Cookie',
    expects: {
      'zh-CN':
        'bypass（带 Set-Cookie 的响应不缓存）、store（有明确有效期时连同 Cookie 缓存）或 strip（去掉 Cookie 后缓存）',
      en: 'bypass (a response with Set-Cookie is not stored), store (stored with it when its freshness is explicit) or strip (stored without it)',
    },
    sample: 'strip',
    help: 'how to cache responses with Set-Cookie',
    option: '--set-cookie <what>',
  },
  requestDirectives: {
    wire: 'request_directives',
    means: "whether a viewer's own no-cache, no-store, max-age and min-fresh count",
    help: "honor no-cache and max-age in viewers' requests",
  },
  heuristicCapSeconds: {
    wire: 'heuristic_cap',
    means: 'longest lifetime without an explicit one, in seconds; 0: none',
    sample: 600,
    help: 'maximum heuristic lifetime of responses without an explicit one; 0: none',
  },
  staleCapSeconds: {
    wire: 'stale_cap',
    means: 'how long past its expiry a response may stand in for an origin that cannot be reached, in seconds',
    help: 'how long after it expires a response may be served while the origin is down; 0: never',
  },
  normalizeVary: {
    wire: 'normalize_vary',
    means: 'whether values of varying headers that mean the same are one variant',
    help: 'treat equivalent values of request headers named in Vary as one variant',
  },
  matchLanguage: {
    wire: 'match_language',
    means: "whether a stored response in the viewer's preferred language is enough",
    help: 'serve a stored response if it is in the preferred language',
  },
});

export const WIRE_HTTPS_SETTINGS = wireSettings(HTTPS_SETTINGS, {
  forceHttps: {
    wire: 'force_https',
    means: 'whether plain HTTP is redirected to HTTPS',
    sample: true,
    help: 'redirect plain HTTP to HTTPS',
  },
  hstsMaxAgeSeconds: {
    wire: 'hsts_max_age',
    means: 'Strict-Transport-Security in seconds; 0: not sent',
    expects: {
      'zh-CN': `0（不发送）到 ${HTTPS_SETTINGS.hstsMaxAgeSeconds.max}（两年）的秒数`,
      en: `a whole number of seconds, from 0 (not sent) to ${HTTPS_SETTINGS.hstsMaxAgeSeconds.max} (two years)`,
    },
    help: 'max-age of Strict-Transport-Security; 0: do not send it',
    option: '--hsts <seconds>',
  },
  minVersion: {
    wire: 'tls_min_version',
    means: 'lowest version of TLS',
    expects: { 'zh-CN': '1.2 或 1.3', en: '1.2 or 1.3' },
    help: 'minimum TLS version',
    option: '--min-version <version>',
  },
});

export const WIRE_SMS_APP_SETTINGS = wireSettings(SMS_APP_SETTINGS, {
  suffix: { wire: 'suffix', means: 'put at the end of advertising, and charged' },
  bareInternational: { wire: 'bare_international', means: 'whether 85261234567 is read as +85261234567' },
  resendUncertain: { wire: 'resend_uncertain', means: 'whether a notification whose answer was lost is sent again' },
  validityHours: { wire: 'validity_hours', means: 'how long a message may wait' },
});
