/** What `causeway doctor` found of one thing that it looked at. */

/** Result of one check. */
export interface DoctorFinding {
  /** What was looked at, in a word or two. */
  readonly check: string;
  /** `problem`: the service does not start, or does not serve. `warning`: it serves, but not as it should. */
  readonly state: 'ok' | 'warning' | 'problem';
  /** What was found, for people. */
  readonly found: string;
  /** What to do about it; absent if the state is `ok`. */
  readonly advice?: string;
}
