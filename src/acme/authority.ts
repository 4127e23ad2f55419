/**
 * An authority that speaks ACME (RFC 8555): its answers as values, its refusals as `AcmeProblem`. Knows no orders of ours and
 * keeps nothing but nonces and the directory.
 */
import type { Clock } from '#lib/clock.ts';
import { AcmeProblem, cleanDetail, parseProblem, Unreachable } from './acme-problem.ts';
import type { AskHttp, HttpAnswer } from './https.ts';
import type { ExternalBinding, Signer } from './jws.ts';
import { type Authorization, type Order, readAuthorization, readObject, readOrder, readUrl } from './resources.ts';

/** Who asks. */
export interface Account {
  readonly signer: Signer;
  /** Its address. */
  readonly url: string;
}

export interface Authority {
  /**
   * Gives the account's address, also when there was one with this key. Agrees to the authority's terms. Rejects with
   * `externalAccountRequired` where the authority wants a binding and there is none.
   */
  register(signer: Signer, email: string | undefined, signal: AbortSignal): Promise<string>;
  /** Gives the order's address. */
  order(account: Account, name: string, signal: AbortSignal): Promise<string>;
  readOrder(account: Account, url: string, signal: AbortSignal): Promise<Order>;
  readAuthorization(account: Account, url: string, signal: AbortSignal): Promise<Authorization>;
  /** The challenge can be looked for. */
  respond(account: Account, url: string, signal: AbortSignal): Promise<void>;
  /** `csr`: DER. */
  finalize(account: Account, url: string, csr: Buffer, signal: AbortSignal): Promise<void>;
  /** Gives PEM, leaf first. */
  download(account: Account, url: string, signal: AbortSignal): Promise<string>;
}

/** Of nonces that were refused: each refusal brings a new one. */
const MAX_NONCE_TRIES = 10;
/** Kept for later requests; an authority forgets them in time. */
const MAX_NONCES = 16;
/** How long addresses are believed. */
const DIRECTORY_MS = 3_600_000;

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  readonly isBindingRequired: boolean;
}

export interface AuthorityOptions {
  readonly directoryUrl: string;
  readonly ask: AskHttp;
  /** Absent: accounts are bound to none. */
  readonly binding?: ExternalBinding | undefined;
  /** For dates that it names. */
  readonly clock: Clock;
  /** Monotonic. */
  readonly steadyClock: Clock;
}

export function createAuthority({ directoryUrl, ask, binding, clock, steadyClock }: AuthorityOptions): Authority {
  const nonces: string[] = [];
  let known: { readonly directory: Directory; readonly at: number } | undefined;

  const exchange: AskHttp = async (question, signal) => {
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

  const directory = async (signal: AbortSignal): Promise<Directory> => {
    if (known === undefined || steadyClock() - known.at > DIRECTORY_MS) {
      const body = readObject((await exchange({ method: 'GET', url: directoryUrl }, signal)).body);
      known = {
        directory: {
          newNonce: readUrl(body, 'newNonce'),
          newAccount: readUrl(body, 'newAccount'),
          newOrder: readUrl(body, 'newOrder'),
          isBindingRequired: Object(body['meta']).externalAccountRequired === true, // RFC 8555 §7.1.1
        },
        at: steadyClock(),
      };
    }
    return known.directory;
  };

  const takeNonce = async (signal: AbortSignal): Promise<string> => {
    if (nonces.length === 0) await exchange({ method: 'HEAD', url: (await directory(signal)).newNonce }, signal);
    const nonce = nonces.pop(); // the freshest
    if (nonce === undefined) throw new Unreachable('the authority gave no nonce');
    return nonce;
  };

  const post = async (
    { signer, url: account }: Account,
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
        throw new AcmeProblem('externalAccountRequired', 'it takes only accounts that are bound to one of its own');
      const payload = {
        termsOfServiceAgreed: true,
        ...(email !== undefined && { contact: [`mailto:${email}`] }),
        ...(binding !== undefined && { externalAccountBinding: signer.bind(binding, newAccount) }),
      };
      return locationOf(await post({ signer, url: '' }, newAccount, signal, payload));
    },
    async order(account, name, signal) {
      const { newOrder } = await directory(signal);
      return locationOf(await post(account, newOrder, signal, { identifiers: [{ type: 'dns', value: name }] }));
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

function locationOf(answer: HttpAnswer): string {
  return readUrl({ location: answer.header('location') }, 'location');
}
