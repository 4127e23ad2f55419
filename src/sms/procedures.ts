/**
 * The frequent transactions of SMS as procedures, which run on SQLite in the thread that has the database open. This
 * file is loaded there too. docs/decisions/0511
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import { noteMessages } from '#db/tables/sms/message-watch.ts';
import type { Turns } from '#db/tables/sms/turns.ts';
import { acceptSubmissions, type Submission } from './accept.ts';
import { type Round, runRound } from './round.ts';
import { Zones } from './zones.ts';

/** URL of this file, passed when a database is opened. */
export const SMS_PROCEDURES = new URL(import.meta.url);

export type SmsProcedures = ReturnType<typeof createProcedures>;

export function createProcedures() {
  const zones = new Zones();
  const turns = new Map<number, Turns>();
  const zoneOf = (timeZone: string) => zones.get(timeZone);
  return {
    accept: async (trx: Transaction<Schema>, submissions: readonly Submission[]) => {
      const { verdicts } = await acceptSubmissions(trx, submissions, zoneOf);
      await noteMessages(trx, { accountIds: submissions.map(({ accountId }) => accountId) });
      return verdicts;
    },
    round: (trx: Transaction<Schema>, round: Round) => runRound(trx, round, zoneOf, turns),
  };
}
