/**
 * The client of one connection, for checks against access rules. Strings are made only when a rule needs them, and
 * reused while the bytes repeat.
 */
import type { SiteAccess } from '#sites/access.ts';
import type { CountedClient } from '../../client-rates.ts';
import { type AskingClient, orAbsent, type RememberedClient } from '../../shortcuts/access-memo.ts';
import type { Shortcuts } from '../../shortcuts/shortcuts.ts';
import type { RequestHead } from './read-head.ts';
import { RepeatedText } from './repeated-text.ts';

export class HeadClient implements RememberedClient {
  readonly clientAddress: string;
  readonly passed: { access: SiteAccess | undefined; userAgent: string | undefined } = {
    access: undefined,
    userAgent: undefined,
  };
  counted: CountedClient | undefined;
  /** The bytes that `head` describes, while a request is answered. They are only lent. */
  bytes: Buffer = NOTHING;
  readonly #head: RequestHead;
  readonly #referer = new RepeatedText(orAbsent);
  readonly #userAgent: RepeatedText<string | undefined>;

  constructor(
    clientAddress: string,
    head: RequestHead,
    { oneAddress, oneUserAgent }: Pick<Shortcuts, 'oneAddress' | 'oneUserAgent'>,
  ) {
    this.clientAddress = oneAddress(clientAddress);
    this.#head = head;
    this.#userAgent = new RepeatedText((text) => orAbsent(oneUserAgent(text)));
  }

  /** The client as strings that may be kept until its answer is sent. */
  describe(): AskingClient {
    const { clientAddress, referer, userAgent } = this;
    return { clientAddress, referer, userAgent };
  }

  get referer(): string | undefined {
    return this.#referer.read(this.bytes, this.#head.refererStart, this.#head.refererEnd);
  }

  get userAgent(): string | undefined {
    return this.#userAgent.read(this.bytes, this.#head.userAgentStart, this.#head.userAgentEnd);
  }
}

export const NOTHING = Buffer.alloc(0);
