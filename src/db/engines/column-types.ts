/** Column types for migrations, by engine. */
import type { RawBuilder } from 'kysely';

/** SQL fragments that differ between the engines. */
export interface ColumnWords {
  /** A primary key below 2^31 that the engine assigns and never reuses. */
  readonly identity: RawBuilder<unknown>;
  /** The same without that bound, for tables with billions of rows. */
  readonly bigIdentity: RawBuilder<unknown>;
  /** 64 bits. */
  readonly bigint: 'bigint' | 'integer';
  /** End of `create table`. */
  readonly tableEnd: RawBuilder<unknown>;
}
