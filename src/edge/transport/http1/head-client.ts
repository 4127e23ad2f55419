/**
 * The client of one bare connection, in the form that rules are checked against: texts are made when a rule needs them,
 * and repeated ones once.
 */
import type { SiteAccess } from '#sites/access.ts';
import type { AskingConnection } from '../../shortcuts/access-memo.ts';
import type { Shortcuts } from '../../shortcuts/shortcuts.ts';
import type { AskingClient } from '../../stages/access.ts';
import type { RequestHead } from './read-head.ts';
import { RepeatedText } from './repeated-text.ts';

export class HeadClient implements AskingConnection<RequestHead> {
  readonly clientAddress: string;
  readonly passed: { access: SiteAccess | undefined; userAgent: string | undefined } = {
    access: undefined,
    userAgent: undefined,
  };
  readonly #referer = new RepeatedText(orAbsent);
  readonly #userAgent: RepeatedText<string | undefined>;

  constructor(clientAddress: string, { oneAddress, oneUserAgent }: Pick<Shortcuts, 'oneAddress' | 'oneUserAgent'>) {
    this.clientAddress = oneAddress(clientAddress);
    this.#userAgent = new RepeatedText((text) => orAbsent(oneUserAgent(text)));
  }

  /** The client as texts, to be kept until its answer is out. */
  describe(bytes: Buffer, head: RequestHead): AskingClient {
    const { clientAddress } = this;
    return { clientAddress, referer: this.refererOf(bytes, head), userAgent: this.userAgentOf(bytes, head) };
  }

  refererOf(bytes: Buffer, { refererStart, refererEnd }: RequestHead): string | undefined {
    return this.#referer.read(bytes, refererStart, refererEnd);
  }

  userAgentOf(bytes: Buffer, { userAgentStart, userAgentEnd }: RequestHead): string | undefined {
    return this.#userAgent.read(bytes, userAgentStart, userAgentEnd);
  }
}

/** A field that is not there. */
function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}
