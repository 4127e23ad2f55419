/** People, and their secrets: the hash of the password, and that of TOTP, sealed together. docs/decisions/0662, 0664 */
import { type ExpressionBuilder, sql, type Transaction } from 'kysely';
import { normalEmail, type Person, type PersonProfile } from '#model/person.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, PersonRow, Schema } from '../../schema/schema.ts';
import type { Keyring } from '../../secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '../../secrets/sealing.ts';
import { escapeLike } from '../domain-filter.ts';

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly now: number;
}

/** What a person proves, sealed. */
export interface PersonSecrets {
  /** Hash of the password. */
  readonly password?: string | undefined;
  /** Key of TOTP, base64url. */
  readonly totp?: string | undefined;
}

/** Throws if there is a person with this address. */
export async function createPerson(trx: Transaction<Schema>, { email, name, now }: NewPerson): Promise<Person> {
  const row = await trx
    .insertInto('person')
    .values({
      email: normalEmail(email),
      name,
      locale: '',
      time_zone: '',
      density: 'normal',
      secrets: '',
      created_at: now,
      disabled_at: null,
      password_at: null,
      totp_at: null,
      totp_step: 0,
      identity: null,
      identity_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toPerson({ ...row, passkeys: 0 });
}

export async function hasPersons(x: Executor): Promise<boolean> {
  const row = await x.selectFrom('person').select('id').limit(1).executeTakeFirst();
  return row !== undefined;
}

export async function findPerson(x: Executor, id: number): Promise<Person | undefined> {
  const row = await selectPersons(x).where('id', '=', id).executeTakeFirst();
  return row && toPerson(row);
}

export async function findPersonByEmail(x: Executor, email: string): Promise<Person | undefined> {
  const row = await selectPersons(x).where('email', '=', normalEmail(email)).executeTakeFirst();
  return row && toPerson(row);
}

/** Finds the person whom an identity provider knows by this name. */
export async function findPersonByIdentity(x: Executor, identity: string): Promise<Person | undefined> {
  const row = await selectPersons(x).where('identity', '=', identity).executeTakeFirst();
  return row && toPerson(row);
}

/** Links a person to an identity, instead of the one before; absent: to none. Throws if another person has it. */
export async function saveIdentity(
  x: Executor,
  id: number,
  linked: { readonly identity: string; readonly now: number } | undefined,
): Promise<void> {
  await x
    .updateTable('person')
    .set({ identity: linked?.identity ?? null, identity_at: linked?.now ?? null })
    .where('id', '=', id)
    .execute();
}

export async function listPersons(x: Executor, ids: readonly number[]): Promise<readonly Person[]> {
  if (ids.length === 0) return [];
  const rows = await selectPersons(x).where('id', 'in', ids).orderBy('email').execute();
  return rows.map(toPerson);
}

export interface PersonFilter {
  /** Part of the address or of the name. */
  readonly text?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A page of people, by address, and how many there are. */
export async function findPersons(
  x: Executor,
  { text = '', limit, offset }: PersonFilter,
): Promise<{ readonly total: number; readonly persons: readonly Person[] }> {
  const pattern = `%${escapeLike(text)}%`;
  const matches = sql<boolean>`(lower(name) like lower(${pattern}) escape '!' or email like lower(${pattern}) escape '!')`;
  const rows = await selectPersons(x).where(matches).orderBy('email').limit(limit).offset(offset).execute();
  const { total } = await x
    .selectFrom('person')
    .where(matches)
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { total, persons: rows.map(toPerson) };
}

/** Locks an address until the transaction ends, whether somebody has it or not. */
export async function lockEmail(trx: Transaction<Schema>, email: string): Promise<void> {
  await lockInTransaction(trx, `email:${normalEmail(email)}`);
}

/** Locks a person until the transaction ends: what they prove changes one at a time. */
export async function lockPerson(trx: Transaction<Schema>, id: number): Promise<void> {
  await lockInTransaction(trx, `person:${id}`);
}

export async function saveProfile(x: Executor, id: number, { name, locale, timeZone, density }: PersonProfile) {
  await x.updateTable('person').set({ name, locale, time_zone: timeZone, density }).where('id', '=', id).execute();
}

/** `disabledAt` absent: the person may sign in again. */
export async function setPersonDisabled(x: Executor, id: number, disabledAt: number | undefined): Promise<void> {
  await x
    .updateTable('person')
    .set({ disabled_at: disabledAt ?? null })
    .where('id', '=', id)
    .execute();
}

export async function readSecrets(x: Executor, ring: Keyring, id: number): Promise<PersonSecrets> {
  const row = await x.selectFrom('person').select('secrets').where('id', '=', id).executeTakeFirst();
  if (row === undefined || row.secrets === '') return {};
  // `as`: this file is the only one that writes them.
  return JSON.parse(String(unseal(ring, locationOf(id), row.secrets))) as PersonSecrets;
}

/** When the parts of the secrets were set; `null`: they are not. Absent members stay. */
interface SecretTimes {
  readonly password_at?: number | null;
  readonly totp_at?: number | null;
  readonly totp_step?: number;
}

/** Changes secrets in a transaction that has locked the person. */
export async function changeSecrets(
  trx: Transaction<Schema>,
  ring: Keyring,
  id: number,
  change: PersonSecrets,
  times: SecretTimes,
): Promise<void> {
  const secrets = { ...(await readSecrets(trx, ring, id)), ...change };
  const sealed = seal(ring, locationOf(id), Buffer.from(JSON.stringify(secrets)));
  await trx
    .updateTable('person')
    .set({ secrets: sealed, ...times })
    .where('id', '=', id)
    .execute();
}

/** Counts the code of a step of time once: returns false if it, or a later one, has been used. */
export async function takeTotpStep(x: Executor, id: number, step: number): Promise<boolean> {
  const row = await x
    .updateTable('person')
    .set({ totp_step: step })
    .where('id', '=', id)
    .where('totp_step', '<', step)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

function selectPersons(x: Executor) {
  return x.selectFrom('person').selectAll().select(countPasskeys);
}

function countPasskeys(e: ExpressionBuilder<Schema, 'person'>) {
  return e
    .selectFrom('passkey')
    .whereRef('passkey.person_id', '=', 'person.id')
    .select((inner) => inner.fn.countAll<number>().as('count'))
    .as('passkeys');
}

function locationOf(id: number): SecretLocation {
  return { table: 'person', row: id, column: 'secrets' };
}

function toPerson(row: PersonRow & { readonly passkeys: number | null }): Person {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    locale: row.locale,
    timeZone: row.time_zone,
    density: row.density === 'dense' ? 'dense' : 'normal',
    createdAt: row.created_at,
    isDisabled: row.disabled_at !== null,
    ...(row.password_at !== null && { passwordAt: row.password_at }),
    ...(row.totp_at !== null && { totpAt: row.totp_at }),
    ...(row.identity_at !== null && { identityAt: row.identity_at }),
    totpStep: row.totp_step,
    passkeys: Number(row.passkeys ?? 0),
  };
}
