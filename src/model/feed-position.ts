/**
 * A place in the history of what edges are told. The tag is random and made with the revision, so that a database that was
 * put back to an earlier state, and gives out the same revisions again, is not taken for the one before.
 */
export interface FeedPosition {
  /** Made with the database. */
  readonly epoch: string;
  readonly revision: number;
  readonly tag: string;
}
