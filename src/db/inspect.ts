/** What a database is found to be, for `causeway doctor`: nothing is migrated or changed. */
import { systemClock } from '#lib/clock.ts';
import { newestStep, readStep } from './migrations/migrations.ts';
import { type DatabaseOptions, openEngine } from './open.ts';
import { type EndingCertificate, listEndingCertificates } from './tables/certificate-ends.ts';

export interface InspectedDatabase {
  readonly engine: 'sqlite' | 'postgres';
  /** Last migration; absent if there is none. */
  readonly step: string | undefined;
  /** Whether a newer release has used it. */
  readonly isNewer: boolean;
  readonly isUpToDate: boolean;
  /** Milliseconds by which the clock of this machine is ahead of the server's; negative if it is behind. */
  readonly clockAheadMs: number;
  /** Certificates in use that end before `until`, the first to end first. Empty if the database is not up to date. */
  readonly ending: readonly EndingCertificate[];
}

/** Throws, with a message for people, if the database cannot be used. */
export async function inspectDatabase(options: DatabaseOptions, until: number): Promise<InspectedDatabase> {
  await using engine = await openEngine({ ...options, isReader: true });
  const clockAheadMs = Math.round(systemClock() - engine.clock());
  const step = await readStep(engine.query);
  const isUpToDate = step === newestStep();
  return {
    engine: engine.name,
    step,
    isNewer: step !== undefined && step > newestStep(),
    isUpToDate,
    clockAheadMs: engine.name === 'sqlite' ? 0 : clockAheadMs,
    ending: isUpToDate ? await listEndingCertificates(engine.query, until) : [],
  };
}
