/** What each migration step writes with. */
import type { RawBuilder } from 'kysely';

/** Where the engines' words for the same thing differ. */
export interface ColumnWords {
  /** A primary key below 2^31 that the engine hands out and never reuses. */
  readonly identity: RawBuilder<unknown>;
  /** The same without that bound, for what there may be billions of. */
  readonly bigIdentity: RawBuilder<unknown>;
  /** 64 bits. */
  readonly bigint: 'bigint' | 'integer';
  /** Closes `create table`. */
  readonly tableEnd: RawBuilder<unknown>;
}
