/** What the rejections of edges mean for domains. */
import type { KnownEdge, Rejection } from '#model/edge.ts';
import { isServedBy } from '#model/edge-group.ts';
import type { Executor } from '../schema/schema.ts';
import { CERTIFICATE_KIND, listCertificateUsers } from './certificates.ts';
import { findDomainIds } from './domain-resources.ts';
import { readServing } from './edge-groups.ts';

/**
 * Returns the edges with rejections of sites. An edge that rejects a certificate also rejects the sites that use it. What an
 * edge rejects of domains that its group does not serve is left out: it speaks for its own only.
 */
export async function resolveRejections(x: Executor, edges: readonly KnownEdge[]): Promise<readonly KnownEdge[]> {
  return await withoutForeign(x, await withUsers(x, edges));
}

async function withUsers(x: Executor, edges: readonly KnownEdge[]): Promise<readonly KnownEdge[]> {
  const refused = edges.flatMap(({ rejected }) => rejected.filter(isOfCertificate).map(({ key }) => key));
  if (refused.length === 0) return edges;
  const users = await listCertificateUsers(x, refused);
  return edges.map((edge) => ({
    ...edge,
    rejected: edge.rejected.flatMap((rejection) => {
      const names = isOfCertificate(rejection) ? (users.get(rejection.key) ?? []) : [];
      return [rejection, ...names.map((key) => ({ ...rejection, kind: 'site', key }))];
    }),
  }));
}

async function withoutForeign(x: Executor, edges: readonly KnownEdge[]): Promise<readonly KnownEdge[]> {
  const remote = edges.filter(({ group }) => group !== undefined);
  const names = remote.flatMap(({ rejected }) => rejected.filter(isOfSite).map(({ key }) => key));
  if (names.length === 0) return edges;
  const ids = await findDomainIds(x, names);
  const serving = await readServing(x, [...ids.values()].flat());
  return edges.map((edge) => {
    if (edge.group === undefined) return edge;
    const isOwn = (name: string) => (ids.get(name) ?? []).some((id) => isServedBy(serving, id, edge.group));
    return { ...edge, rejected: edge.rejected.filter((each) => !isOfSite(each) || isOwn(each.key)) };
  });
}

function isOfCertificate({ kind }: Rejection): boolean {
  return kind === CERTIFICATE_KIND;
}

function isOfSite({ kind }: Rejection): boolean {
  return kind === 'site';
}
