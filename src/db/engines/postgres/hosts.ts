/** The hosts that a database URL names: the one to connect to, and which comes next. docs/decisions/0580 */
import { postgresUrls } from '#lib/postgres-url.ts';

/** A host that answered is a standby: it stores nothing. */
export class NotPrimary extends Error {}

export class DatabaseHosts {
  readonly #urls: readonly string[];
  #current = 0;

  /** `text` may name several hosts. */
  constructor(text: string) {
    this.#urls = postgresUrls(text) ?? [text];
  }

  get count(): number {
    return this.#urls.length;
  }

  /** URLs of all hosts, in their order. */
  get urls(): readonly string[] {
    return this.#urls;
  }

  /** URL of the host to connect to. */
  get url(): string {
    return this.#urls[this.#current] ?? '';
  }

  /** Makes the host with this URL, one of `urls`, the one to connect to. */
  use(url: string): void {
    this.#current = this.#urls.indexOf(url);
  }

  /** Goes on to the next host, unless another caller has done so since it read `url`. */
  pass(url: string): void {
    if (url === this.url) this.#current = (this.#current + 1) % this.#urls.length;
  }
}
