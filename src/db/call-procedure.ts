/** Runs a procedure where it runs best: in the database's own thread, or here. docs/decisions/0320 */
import type { Db } from './open.ts';
import { missing, type Procedures } from './procedures.ts';

/**
 * As `Db.transaction` does it. `procedures` are what the file makes that `db` was opened with, if it was; `take` gives the
 * arguments once the transaction can begin, and may be called several times.
 */
export function callProcedure<P extends Procedures, N extends keyof P & string>(
  db: Db,
  procedures: P,
  name: N,
  take: () => Parameters<P[N]>[1],
): ReturnType<P[N]> {
  // `as`: the thread runs the procedure of this name, or this one is run here; both give what it gives.
  if (db.call !== undefined) return db.call(name, take) as ReturnType<P[N]>;
  return db.transaction((trx) => procedures[name]?.(trx, take() as never) ?? missing(name)) as ReturnType<P[N]>;
}
