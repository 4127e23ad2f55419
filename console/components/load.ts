/** What is known of something that is being read. */

export interface Problem {
  /** `forbidden`: the role does not allow it. `offline`: the service cannot be reached. `missing`: there is no such object. */
  readonly kind: 'error' | 'forbidden' | 'offline' | 'missing';
  /** What the service said. */
  readonly text: string;
  /** The id by which operators find the call in the log. */
  readonly requestId?: string | undefined;
}

export type Load<T> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly problem: Problem; readonly onRetry: () => void }
  /** `staleSince`: when it was read, if the last attempt to read it again has failed. */
  | { readonly kind: 'ready'; readonly data: T; readonly staleSince?: number | undefined };
