/** The advanced configuration, its words on the wire and in the model. Used by `wire.ts` and `wire-domain.ts`. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { WIRE_SWITCHES, WIRE_VALIDITIES } from '#contract/settings/settings.ts';
import type { DomainSettings } from '#model/domain.ts';

/** What is `undefined` stays as it is. */
export function readAdvanced(request: RequestOf<'config.setAdvanced'>) {
  return {
    domainId: request.domain_id,
    plain: { ...WIRE_SWITCHES.read(request), ...WIRE_VALIDITIES.read(request) },
    forbidHttpCode: request.forbid_http_code,
    forbidRedirectUrl: request.forbid_redirect_url,
    html403: request.html_403,
  };
}

/** The fields that `/config/getDomainAdvanced` shares with the domain object. */
export function writeAdvanced(settings: DomainSettings): Omit<DataOf<'config.getAdvanced'>, 'revision'> {
  const { expires, access_control_max_age } = WIRE_VALIDITIES.write(settings);
  return {
    ...WIRE_SWITCHES.write(settings),
    forbid_http_code: settings.forbidHttpCode,
    forbid_redirect_url: settings.forbidRedirectUrl,
    access_control_max_age,
    expires,
  };
}
