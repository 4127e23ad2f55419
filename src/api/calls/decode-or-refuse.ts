/** A request's fields, decoded by the contract. Throws `ServiceError` for the first that is wrong. */
import { decodeRequest } from '#contract/decode.ts';
import { ServiceError } from '#contract/errors/service-error.ts';

export function decodeOrRefuse<R extends Parameters<typeof decodeRequest>[0]>(
  contract: R,
  members: Readonly<Record<string, unknown>>,
) {
  const decoded = decodeRequest(contract, members);
  if (decoded.kind === 'error') throw new ServiceError(decoded.code, decoded.parameters);
  return decoded.value;
}
