/** What holds for some operations: that they add, stream, need a proof, or concern a person. */
import { ROUTES, type Route, type RouteName } from './routes.ts';

/** Operations that add something, which a repetition would add twice. They take an `Idempotency-Key`. docs/decisions/0631 */
export const ADDING: ReadonlySet<RouteName> = new Set<RouteName>([
  'domain.add',
  'cache.purge',
  'cache.prefetch',
  'certificate.add',
  'config.requestCertificate',
  'token.create',
  'token.rotate',
  'member.invite',
  'operator.createAccount',
  'operator.createToken',
  'operator.createPerson',
  'fleetOperator.createToken',
  'fleetOperator.addEdge',
  'smsOperator.createApp',
  'smsOperator.recharge',
]);

/** Operations whose success is answered with a stream, `text/event-stream`, in place of the envelope. docs/decisions/0671 */
export const STREAMING: ReadonlySet<RouteName> = new Set<RouteName>(['event.watch']);

/** Operations for which a session needs a proof within the last 15 minutes. docs/decisions/0664 */
export const NEEDS_PROOF: ReadonlySet<RouteName> = new Set<RouteName>([
  'session.look',
  'person.setPassword',
  'person.beginTotp',
  'person.removeTotp',
  'person.makeRecoveryCodes',
  'person.beginPasskey',
  'person.addPasskey',
  'person.removePasskey',
  'person.linkProvider',
  'person.unlinkProvider',
  'member.invite',
  'member.setRole',
  'member.remove',
  'member.resetPassword',
  'member.setSecondFactor',
  'token.create',
  'token.rotate',
  'token.revoke',
  'domain.delete',
  'operator.createToken',
  'operator.revokeToken',
  'operator.rotateKeyring',
  'operator.setAccountStatus',
  'operator.transferDomain',
  'operator.createPerson',
  'operator.resetPerson',
  'operator.setPersonStatus',
  'fleetOperator.createToken',
  'fleetOperator.addEdge',
  'fleetOperator.revokeEdge',
  'fleetOperator.rotateAuthority',
  'smsOperator.recharge',
]);

/** Whether the operation concerns whoever is signed in, or is to sign in, and no account. */
export function isPersonal(name: RouteName): boolean {
  const { scope }: Route = ROUTES[name];
  return scope === 'person' || scope === 'none';
}
