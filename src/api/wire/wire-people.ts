/** People, members and invitations on the wire. Used by `wire.ts` only. */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { quote } from '#contract/schema/found.ts';
import type { Invitation } from '#db/tables/people/invitations.ts';
import type { Passkey } from '#db/tables/people/passkeys.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { Account } from '#model/account.ts';
import { type AccountMembership, hasSecondFactor, type Person } from '#model/person.ts';
import type { BegunSession } from '../auth/begin-session.ts';
import { base32, totpUrl } from '../auth/totp.ts';
import { cookieOf, writeOptions } from './wire-session.ts';
import { readPage, writeFlag } from './wire-values.ts';
import type { Writers } from './writers.ts';

interface Seen {
  readonly person: Person;
  readonly seenAt: number | undefined;
}

interface MemberList {
  readonly members: readonly (Seen & { readonly membership: AccountMembership })[];
  readonly invitations: readonly Invitation[];
  readonly needsSecondFactor: boolean;
}

interface MadeLink {
  readonly invitation: Invitation;
  readonly link: string;
}

interface PersonPage {
  readonly total: number;
  readonly views: readonly (Seen & { readonly memberships: readonly AccountMembership[] })[];
}

type PeopleRoute = Extract<
  RouteName,
  | `${'person' | 'member' | 'invitation'}.${string}`
  | `operator.${'create' | 'reset'}Person`
  | `operator.${'listPersons' | 'setPersonStatus'}`
>;

export const READ_PEOPLE = {
  'person.get': () => undefined,
  'person.set': ({ time_zone: timeZone, ...others }: RequestOf<'person.set'>) => {
    if (timeZone !== undefined && !isTimeZone(timeZone))
      throw new ServiceError('timeZoneUnknown', { found: quote(timeZone) });
    return { ...others, ...(timeZone !== undefined && { timeZone }) };
  },
  'person.setPassword': toModelNames<RequestOf<'person.setPassword'>>,
  'person.beginTotp': () => undefined,
  'person.confirmTotp': toModelNames<RequestOf<'person.confirmTotp'>>,
  'person.removeTotp': () => undefined,
  'person.makeRecoveryCodes': () => undefined,
  'person.beginPasskey': () => undefined,
  'person.addPasskey': toModelNames<RequestOf<'person.addPasskey'>>,
  'person.listPasskeys': () => undefined,
  'person.removePasskey': toModelNames<RequestOf<'person.removePasskey'>>,
  'person.linkProvider': toModelNames<RequestOf<'person.linkProvider'>>,
  'person.unlinkProvider': () => undefined,
  'member.list': () => undefined,
  'member.invite': toModelNames<RequestOf<'member.invite'>>,
  'member.setRole': toModelNames<RequestOf<'member.setRole'>>,
  'member.remove': toModelNames<RequestOf<'member.remove'>>,
  'member.resetPassword': toModelNames<RequestOf<'member.resetPassword'>>,
  'member.setSecondFactor': ({ required }: RequestOf<'member.setSecondFactor'>) => ({ isRequired: required }),
  'invitation.get': toModelNames<RequestOf<'invitation.get'>>,
  'invitation.beginPasskey': toModelNames<RequestOf<'invitation.beginPasskey'>>,
  'invitation.accept': toModelNames<RequestOf<'invitation.accept'>>,
  'operator.createPerson': toModelNames<RequestOf<'operator.createPerson'>>,
  'operator.resetPerson': ({ person_id, second_factor = false }: RequestOf<'operator.resetPerson'>) => ({
    personId: person_id,
    clearsFactors: second_factor,
  }),
  'operator.listPersons': ({ text, ...page }: RequestOf<'operator.listPersons'>) => ({ ...readPage(page), text }),
  'operator.setPersonStatus': ({ person_id, enabled }: RequestOf<'operator.setPersonStatus'>) => ({
    personId: person_id,
    isEnabled: enabled,
  }),
} satisfies { readonly [N in PeopleRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_PEOPLE = {
  'person.get': writePerson,
  'person.beginTotp': ({ key, email }: { readonly key: Buffer; readonly email: string }) => ({
    secret: base32(key),
    url: totpUrl(key, 'Causeway', email),
  }),
  'person.confirmTotp': writeCodes,
  'person.makeRecoveryCodes': writeCodes,
  'person.beginPasskey': writeOptions,
  'person.addPasskey': (id: number) => ({ passkey_id: String(id) }),
  'person.listPasskeys': writePasskeys,
  'member.list': writeMembers,
  'member.invite': (made: MadeLink) => ({ invitation_id: String(made.invitation.id), ...writeLink(made) }),
  'member.resetPassword': writeLink,
  'invitation.get': writeInvitation,
  'invitation.beginPasskey': writeOptions,
  'invitation.accept': ({ begun }: { readonly begun?: BegunSession }) =>
    ({ next: begun === undefined ? 'signIn' : 'done' }) as const,
  'operator.createPerson': ({ personId, made }: { readonly personId: number; readonly made?: MadeLink }) => ({
    person_id: String(personId),
    ...(made === undefined ? { link: '', expires_at: 0 } : writeLink(made)),
  }),
  'operator.resetPerson': writeLink,
  'operator.listPersons': writePersons,
} satisfies Writers<PeopleRoute>;

/** `Set-Cookie` of the answer to this operation; `undefined`: none. */
export const PEOPLE_COOKIES = {
  'invitation.accept': ({ begun }: { readonly begun?: BegunSession }) => cookieOf(begun),
};

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false; // RangeError: no such time zone
  }
}

function writePerson({ person, recoveryCodes }: { readonly person: Person; readonly recoveryCodes: number }) {
  return {
    person_id: String(person.id),
    email: person.email,
    name: person.name,
    locale: person.locale,
    time_zone: person.timeZone,
    density: person.density,
    password_at: person.passwordAt ?? 0,
    totp_at: person.totpAt ?? 0,
    passkeys: person.passkeys,
    recovery_codes: recoveryCodes,
    provider_at: person.identityAt ?? 0,
  };
}

function writeCodes(codes: readonly string[]) {
  return { recovery_codes: [...codes] };
}

function writePasskeys(passkeys: readonly Passkey[]): DataOf<'person.listPasskeys'> {
  return {
    list: passkeys.map(({ id, label, createdAt, usedAt = 0 }) => ({
      passkey_id: String(id),
      label,
      created_at: createdAt,
      used_at: usedAt,
    })),
  };
}

function writeMembers({ members, invitations, needsSecondFactor }: MemberList): DataOf<'member.list'> {
  return {
    list: members.map(({ membership: { role, createdAt }, ...seen }) => ({
      ...writeSeen(seen),
      role,
      created_at: createdAt,
    })),
    invitations: invitations.map((invitation) => ({
      invitation_id: String(invitation.id),
      email: invitation.email,
      role: invitation.membership?.role ?? '',
      invited_by: invitation.invitedBy,
      created_at: invitation.createdAt,
      expires_at: invitation.expiresAt,
    })),
    second_factor: writeFlag(needsSecondFactor),
  };
}

function writeSeen({ person, seenAt = 0 }: Seen) {
  return {
    person_id: String(person.id),
    email: person.email,
    name: person.name,
    has_second_factor: writeFlag(hasSecondFactor(person)),
    disabled: writeFlag(person.isDisabled),
    created_at: person.createdAt,
    seen_at: seenAt,
  };
}

function writeLink({ invitation, link }: MadeLink) {
  return { link, expires_at: invitation.expiresAt };
}

interface InvitationView {
  readonly invitation: Invitation;
  readonly account: Account | undefined;
  readonly isKnown: boolean;
}

function writeInvitation({ invitation, account, isKnown }: InvitationView): DataOf<'invitation.get'> {
  return {
    kind: invitation.personId === undefined ? 'member' : 'password',
    email: invitation.email,
    account_name: account?.name ?? '',
    role: invitation.membership?.role ?? '',
    is_known: writeFlag(isKnown),
    expires_at: invitation.expiresAt,
  };
}

function writePersons({ total, views }: PersonPage): DataOf<'operator.listPersons'> {
  return {
    total,
    list: views.map(({ memberships, ...seen }) => ({
      ...writeSeen(seen),
      memberships: memberships.map(({ accountId, role }) => ({ account_id: String(accountId), role })),
    })),
  };
}
