/** What people do of themselves: their profile, password, TOTP, recovery codes and passkeys. docs/decisions/0664 */
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Schema } from '#db/schema/schema.ts';
import { countRecoveryCodes, saveRecoveryCodes } from '#db/tables/people/factors.ts';
import { listPasskeys, removePasskey } from '#db/tables/people/passkeys.ts';
import {
  changeSecrets,
  findPersonByIdentity,
  lockPerson,
  readSecrets,
  saveIdentity,
  saveProfile,
} from '#db/tables/people/persons.ts';
import { endSessions, setStrong } from '#db/tables/people/sessions.ts';
import { hasSecondFactor, type Person } from '#model/person.ts';
import { passkeyCreation, passkeyOwner } from '../auth/passkeys.ts';
import { hashRecoveryCode, makeRecoveryCodes } from '../auth/recovery-codes.ts';
import { TOTP_KEY_BYTES, totpStepOf } from '../auth/totp.ts';
import type { Call, Handler } from './handler.ts';
import { checkedPasskey, keepPasskey } from './new-passkey.ts';
import { hashNewPassword } from './new-password.ts';
import { findSelf, notePerson } from './own-person.ts';
import { findVouched } from './provider-sign-in.ts';
import { passkeyContext } from './sign-in.ts';

const MAX_PASSKEYS = 20;

export const PERSON_HANDLERS = {
  'person.get': async (call) => {
    const person = await findSelf(call.db.query, call);
    return { person, recoveryCodes: await countRecoveryCodes(call.db.query, person.id) };
  },

  'person.set': async (call, change) => {
    await asSelf(call, async (trx, person) => {
      const { name = person.name, locale = person.locale } = change;
      const { timeZone = person.timeZone, density = person.density } = change;
      const profile = { name, locale, timeZone, density };
      await saveProfile(trx, person.id, profile);
      const { name: before } = person;
      notePerson(trx, call, person, before === name ? {} : { name: before }, { ...change });
    });
  },

  'person.setPassword': async (call, { password }) => {
    const own = await findSelf(call.db.query, call);
    const hashed = await hashNewPassword(call, password, [own.email, own.name]);
    await asSelf(call, async (trx, person) => {
      await changeSecrets(trx, call.keyring, person.id, { password: hashed }, { password_at: call.now });
      await endSessions(trx, { personId: person.id }, call.by.session?.id);
      notePerson(trx, call, person, {}, { password: { changed: true } });
    });
  },

  'person.beginTotp': (call) =>
    asSelf(call, async (trx, person) => {
      if (person.totpAt !== undefined) throw new ServiceError('totpPresent');
      const key = randomBytes(TOTP_KEY_BYTES);
      const totp = key.toString('base64url');
      await changeSecrets(trx, call.keyring, person.id, { totp }, { totp_at: null, totp_step: 0 });
      notePerson(trx, call, person, {}, { totp: 'begun' });
      return { key, email: person.email };
    }),

  'person.confirmTotp': (call, { code }) =>
    asSelf(call, async (trx, person) => {
      const { keyring, now } = call;
      const { totp } = await readSecrets(trx, keyring, person.id);
      if (person.totpAt !== undefined) throw new ServiceError('totpPresent');
      if (totp === undefined) throw new ServiceError('totpNotBegun');
      const step = totpStepOf(Buffer.from(totp, 'base64url'), code, now);
      if (step === undefined) throw new ServiceError('codeWrong');
      await changeSecrets(trx, keyring, person.id, {}, { totp_at: now, totp_step: step });
      await noteProof(trx, call);
      notePerson(trx, call, person, { totp: 'off' }, { totp: 'on' });
      return await renewCodes(trx, person);
    }),

  'person.removeTotp': async (call) => {
    await asSelf(call, async (trx, person) => {
      if (person.totpAt === undefined) throw new ServiceError('totpAbsent');
      await changeSecrets(trx, call.keyring, person.id, { totp: undefined }, { totp_at: null });
      if (person.passkeys === 0) await saveRecoveryCodes(trx, person.id, []);
      notePerson(trx, call, person, { totp: 'on' }, { totp: 'off' });
    });
  },

  'person.makeRecoveryCodes': (call) =>
    asSelf(call, async (trx, person) => {
      if (!hasSecondFactor(person)) throw new ServiceError('totpAbsent');
      notePerson(trx, call, person, {}, { recovery_codes: { changed: true } });
      return await renewCodes(trx, person);
    }),

  'person.beginPasskey': async (call) => {
    const person = await findSelf(call.db.query, call);
    const present = await listPasskeys(call.db.query, person.id);
    if (present.length >= MAX_PASSKEYS) throw new ServiceError('passkeyLimit', { limit: MAX_PASSKEYS });
    return await passkeyCreation(passkeyContext(call), passkeyOwner(person), present);
  },

  'person.addPasskey': async (call, { passkey, label = '' }) => {
    const own = await findSelf(call.db.query, call);
    const checked = await checkedPasskey(call, passkey, passkeyOwner(own));
    return await asSelf(call, async (trx, person) => {
      if (person.passkeys >= MAX_PASSKEYS) throw new ServiceError('passkeyLimit', { limit: MAX_PASSKEYS });
      await noteProof(trx, call);
      notePerson(trx, call, person, {}, { passkey: label });
      return await keepPasskey(trx, checked, { personId: person.id, label, createdAt: call.now });
    });
  },

  'person.listPasskeys': async (call) => {
    const { id } = await findSelf(call.db.query, call);
    return await listPasskeys(call.db.query, id);
  },

  'person.removePasskey': async (call, { passkeyId }) => {
    await asSelf(call, async (trx, person) => {
      if (!(await removePasskey(trx, person.id, passkeyId))) throw new ServiceError('passkeyNotFound', { passkeyId });
      if (person.passkeys === 1 && person.totpAt === undefined) await saveRecoveryCodes(trx, person.id, []);
      notePerson(trx, call, person, { passkey_id: passkeyId }, {});
    });
  },

  'person.linkProvider': async (call, answer) => {
    const { identity } = await findVouched(call, answer);
    await asSelf(call, async (trx, person) => {
      const linked = await findPersonByIdentity(trx, identity);
      if (linked !== undefined && linked.id !== person.id) throw new ServiceError('identityTaken');
      await saveIdentity(trx, person.id, { identity, now: call.now });
      notePerson(trx, call, person, {}, { identity });
    });
  },

  'person.unlinkProvider': async (call) => {
    await asSelf(call, async (trx, person) => {
      await saveIdentity(trx, person.id, undefined);
      notePerson(trx, call, person, { identity: 'linked' }, {});
    });
  },
} satisfies { readonly [N in RouteName as N extends `person.${string}` ? N : never]: Handler<N> };

/** One change of a person after the other. */
function asSelf<T>(call: Call, work: (trx: Transaction<Schema>, person: Person) => Promise<T>): Promise<T> {
  return call.db.transaction(async (trx) => {
    await lockPerson(trx, call.by.person?.id ?? 0);
    return await work(trx, await findSelf(trx, call));
  });
}

/** Setting a second factor up proves it. */
async function noteProof(trx: Transaction<Schema>, { by: { session }, now }: Call): Promise<void> {
  if (session === undefined) return;
  const method = session.method === 'password' ? 'second' : session.method;
  await setStrong(trx, session.id, { method, now });
}

async function renewCodes(trx: Transaction<Schema>, { id }: Person): Promise<readonly string[]> {
  const codes = makeRecoveryCodes();
  await saveRecoveryCodes(trx, id, codes.map(hashRecoveryCode));
  return codes;
}
