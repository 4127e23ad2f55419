/** Refusals of the fleet listener: a status, a word for programs, and a text for people. */

/** An answer that is sent as `word: text`. */
export class FleetRefusal extends Error {
  readonly status: number;
  readonly word: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, word: string, text: string, retryAfterSeconds?: number) {
    super(text === '' ? word : `${word}: ${text}`);
    this.status = status;
    this.word = word;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
