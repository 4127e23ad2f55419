/** The advanced configuration, its words on the wire and in the model. Used by `wire.ts` and `wire-domain.ts`. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { DomainSettings } from '#model/domain.ts';
import { writeFlag } from './wire-values.ts';

/** What is `undefined` stays as it is. */
export function readAdvanced(request: RequestOf<'config.setAdvanced'>) {
  return {
    domainId: request.domain_id,
    switches: {
      ignoresQuery: request.keep_url_params,
      prefixCacheFirst: request.prefix_cache_first,
      redirectFollow: request.redirect_follow,
      pageCompress: request.page_compress,
      rangeBackSource: request.range_back_source,
    },
    expiresSeconds: request.expires,
    accessControlMaxAgeSeconds: request.access_control_max_age,
    forbidHttpCode: request.forbid_http_code,
    forbidRedirectUrl: request.forbid_redirect_url,
    html403: request.html_403,
  };
}

/** The fields that `/config/getDomainAdvanced` shares with the domain object. */
export function writeAdvanced(settings: DomainSettings): Omit<DataOf<'config.getAdvanced'>, 'revision'> {
  return {
    keep_url_params: writeFlag(settings.ignoresQuery),
    prefix_cache_first: writeFlag(settings.prefixCacheFirst),
    ssl_control: writeFlag(settings.sslControl),
    redirect_follow: writeFlag(settings.redirectFollow),
    page_compress: writeFlag(settings.pageCompress),
    range_back_source: writeFlag(settings.rangeBackSource),
    forbid_http_code: settings.forbidHttpCode,
    forbid_redirect_url: settings.forbidRedirectUrl,
    // The meaning of these two is settled in docs/decisions/0003.
    access_control_max_age: String(settings.accessControlMaxAgeSeconds),
    expires: String(settings.expiresSeconds),
  };
}
