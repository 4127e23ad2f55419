/**
 * A client of an ACME authority (RFC 8555): returns answers as values and throws refusals as `AcmeProblem`. It knows
 * nothing of our orders and keeps only nonces and the directory.
 */
import type { Clock } from '#lib/clock.ts';
import { AcmeProblem, cleanDetail, parseProblem, Unreachable } from './acme-problem.ts';
import type { AskHttp, HttpAnswer } from './https.ts';
import type { ExternalBinding, Signer } from './jws.ts';
import {
  type Authorization,
  findUrl,
  type Order,
  parseMembers,
  type RenewalInfo,
  readAuthorization,
  readOrder,
  readRenewalInfo,
  readUrl,
} from './resources.ts';

/** The account in whose name requests are signed. */
export interface SigningAccount {
  readonly signer: Signer;
  /** The account's URL. */
  readonly url: string;
}

export interface AcmeAuthority {
  /**
   * Returns the account's URL, new or existing. Agrees to the authority's terms. Rejects with `externalAccountRequired`
   * if the authority requires a binding and there is none.
   */
  register(signer: Signer, email: string | undefined, signal: AbortSignal): Promise<string>;
  /** Returns the order's URL. `replaces`: id of the certificate that is renewed (`renewalIdOf`). RFC 9773 §5 */
  order(account: SigningAccount, name: string, signal: AbortSignal, replaces?: string): Promise<string>;
  /** Whether it offers renewal information. */
  hasRenewalInfo(signal: AbortSignal): Promise<boolean>;
  /** Returns `undefined` if it offers no renewal information. RFC 9773 §4 */
  readRenewalInfo(renewalId: string, signal: AbortSignal): Promise<RenewalInfo | undefined>;
  readOrder(account: SigningAccount, url: string, signal: AbortSignal): Promise<Order>;
  readAuthorization(account: SigningAccount, url: string, signal: AbortSignal): Promise<Authorization>;
  /** Asks the authority to validate the challenge. */
  respond(account: SigningAccount, url: string, signal: AbortSignal): Promise<void>;
  /** `csr`: DER. */
  finalize(account: SigningAccount, url: string, csr: Buffer, signal: AbortSignal): Promise<void>;
  /** Returns PEM, leaf first. */
  download(account: SigningAccount, url: string, signal: AbortSignal): Promise<string>;
}

/** Refused nonces per request: each refusal brings a new nonce. */
const MAX_NONCE_TRIES = 10;
/** Nonces kept for later requests; an authority forgets them in time. */
const MAX_NONCES = 16;
/** How long the directory is cached. */
const DIRECTORY_MS = 3_600_000;
/** Problem types that mean that `replaces` is not accepted. */
const NOT_REPLACED = ['alreadyReplaced', 'malformed', 'unauthorized'];

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  /** URL of renewal information; absent if there is none. RFC 9773 §3 */
  readonly renewalInfo: string | undefined;
  readonly isBindingRequired: boolean;
}

export interface AuthorityOptions {
  readonly directoryUrl: string;
  readonly ask: AskHttp;
  /** Absent if no external binding is used. */
  readonly binding?: ExternalBinding | undefined;
  /** Clock for dates in the authority's answers. */
  readonly clock: Clock;
  /** Monotonic. */
  readonly steadyClock: Clock;
}

export function createAuthority({ directoryUrl, ask, binding, clock, steadyClock }: AuthorityOptions): AcmeAuthority {
  const nonces: string[] = [];
  let known: { readonly directory: Directory; readonly at: number } | undefined;

  const exchange = createExchange(ask, clock, nonces);

  const directory = async (signal: AbortSignal): Promise<Directory> => {
    if (known === undefined || steadyClock() - known.at > DIRECTORY_MS) {
      const body = parseMembers((await exchange({ method: 'GET', url: directoryUrl }, signal)).body);
      known = {
        directory: readDirectory(body),
        at: steadyClock(),
      };
    }
    return known.directory;
  };

  const takeNonce = async (signal: AbortSignal): Promise<string> => {
    if (nonces.length === 0) await exchange({ method: 'HEAD', url: (await directory(signal)).newNonce }, signal);
    const nonce = nonces.pop(); // the freshest
    if (nonce === undefined) throw new Unreachable('the certificate authority sent no nonce');
    return nonce;
  };

  const post = async (
    { signer, url: account }: SigningAccount,
    url: string,
    signal: AbortSignal,
    payload?: object,
  ): Promise<HttpAnswer> => {
    for (let tries = 1; ; tries += 1) {
      const body = signer.sign({ url, nonce: await takeNonce(signal), account }, payload);
      try {
        return await exchange({ method: 'POST', url, body }, signal);
      } catch (error) {
        // RFC 8555 §6.5
        const isNonce = error instanceof AcmeProblem && error.type === 'badNonce';
        if (!isNonce || tries === MAX_NONCE_TRIES) throw error;
      }
    }
  };

  return {
    async register(signer, email, signal) {
      const { newAccount, isBindingRequired } = await directory(signal);
      if (isBindingRequired && binding === undefined)
        throw new AcmeProblem('externalAccountRequired', 'the authority requires External Account Binding');
      const bound = binding && { externalAccountBinding: signer.bind(binding, newAccount) };
      return locationOf(await post({ signer, url: '' }, newAccount, signal, { ...describeAccount(email), ...bound }));
    },
    async order(account, name, signal, replaces) {
      const { newOrder, renewalInfo } = await directory(signal);
      const identifiers = [{ type: 'dns', value: name }];
      const begin = async (more: object) => locationOf(await post(account, newOrder, signal, { identifiers, ...more }));
      return replaces === undefined || renewalInfo === undefined ? await begin({}) : await replace(begin, replaces);
    },
    hasRenewalInfo: async (signal) => (await directory(signal)).renewalInfo !== undefined,
    async readRenewalInfo(renewalId, signal) {
      const { renewalInfo } = await directory(signal);
      if (renewalInfo === undefined) return undefined;
      const url = `${renewalInfo.replace(/\/$/, '')}/${renewalId}`;
      return readRenewalInfo(await exchange({ method: 'GET', url }, signal), clock());
    },
    readOrder: async (account, url, signal) => readOrder(await post(account, url, signal), clock()),
    readAuthorization: async (account, url, signal) => readAuthorization(await post(account, url, signal), clock()),
    async respond(account, url, signal) {
      await post(account, url, signal, {});
    },
    async finalize(account, url, csr, signal) {
      await post(account, url, signal, { csr: csr.toString('base64url') });
    },
    download: async (account, url, signal) => (await post(account, url, signal)).body,
  };
}

/** Wraps `ask`: throws refusals, and adds the nonce of each answer to `nonces`. */
function createExchange(ask: AskHttp, clock: Clock, nonces: string[]): AskHttp {
  return async (question, signal) => {
    const answer = await ask(question, signal).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Unreachable(cleanDetail(`${question.url}: ${why}`), { cause: error });
    });
    const nonce = answer.header('replay-nonce');
    if (nonce !== undefined && /^[\w-]+$/.test(nonce)) nonces.push(nonce);
    if (nonces.length > MAX_NONCES) nonces.shift();
    if (answer.status >= 300 && answer.status < 400)
      throw new Unreachable(cleanDetail(`${question.url}: it answered ${answer.status}, and is not followed`));
    if (answer.status >= 400 || answer.status < 200) throw parseProblem(answer, clock());
    return answer;
  };
}

function describeAccount(email: string | undefined): object {
  return { termsOfServiceAgreed: true, ...(email !== undefined && { contact: [`mailto:${email}`] }) };
}

function readDirectory(body: ReturnType<typeof parseMembers>): Directory {
  return {
    newNonce: readUrl(body, 'newNonce'),
    newAccount: readUrl(body, 'newAccount'),
    newOrder: readUrl(body, 'newOrder'),
    renewalInfo: findUrl(body, 'renewalInfo'),
    isBindingRequired: Object(body['meta']).externalAccountRequired === true, // RFC 8555 §7.1.1
  };
}

/**
 * Orders a replacement. If the old certificate was replaced already or is of another authority, orders without it. RFC
 * 9773 §5
 */
async function replace(begin: (more: object) => Promise<string>, replaces: string): Promise<string> {
  try {
    return await begin({ replaces });
  } catch (error) {
    if (!(error instanceof AcmeProblem && NOT_REPLACED.includes(error.type))) throw error;
    return await begin({});
  }
}

function locationOf(answer: HttpAnswer): string {
  return readUrl({ location: answer.header('location') }, 'location');
}
