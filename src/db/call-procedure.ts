/** Runs a procedure where it runs best: in the database's own thread, or here. docs/decisions/0511 */

import { missing, type Procedures } from './engines/procedures.ts';
import type { Db } from './open.ts';

/**
 * Runs a procedure in a transaction of its own, as `Db.transaction` does. `procedures` must be those of the file that
 * `db` was opened with, if it was opened with one. `take` returns the arguments once the transaction can begin; it may
 * be called several times.
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
