/** Certificates that the service obtains: asked for here, obtained by `acme/`. docs/decisions/0190 */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { askForCertificate, findOrder } from '#db/tables/certificate-orders.ts';
import { MAX_ORDERS_PER_DAY } from '#model/certificate-order.ts';
import { canChangeSettings } from '#model/transition.ts';
import { findOrRefuse } from '../settings/change.ts';
import type { Handler } from './handler.ts';
import { domainKeyOf, readOwnDomain } from './own-domain.ts';

export const CERTIFICATE_REQUEST_HANDLERS = {
  'config.requestCertificate': async (call, { domainId }) => {
    const { db, now } = call;
    if (!call.obtainsCertificates) throw new ServiceError('certificatesNotObtained');
    await db.transaction(async (trx) => {
      const domain = await findOrRefuse(trx, domainKeyOf(call, domainId));
      if (!canChangeSettings(domain.state)) throw new ServiceError('domainDisabled', { domainId });
      const { name, settings } = domain;
      if (name.startsWith('*.')) throw new ServiceError('wildcardNotObtained', { name });
      const asked = await askForCertificate(trx, { domainId, sslKey: settings.sslKey, now });
      if (asked === 'limited') throw new ServiceError('certificateRequestLimit', { limit: MAX_ORDERS_PER_DAY });
    });
  },

  'config.getCertificateRequest': async (call, { domainId }) =>
    await findOrder(call.db.query, (await readOwnDomain(call, domainId)).id),
} satisfies {
  readonly [N in RouteName as N extends `config.${string}Certificate${string}` ? N : never]: Handler<N>;
};
