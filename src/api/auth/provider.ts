/**
 * Signing in by an identity provider: OpenID Connect's code flow with PKCE, by openid-client. Nothing is stored between the
 * two steps: state, nonce and verifier lie sealed with the page that began. docs/decisions/0666
 */
import type { Configuration } from 'openid-client';
import type { Keyring } from '#db/secrets/keyring.ts';
import { type SecretLocation, seal, unseal } from '#db/secrets/sealing.ts';
import { isLoopback } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { type GroupRole, normalEmail } from '#model/person.ts';

export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client. */
  readonly clientSecret?: string | undefined;
}

export interface ProviderSettings extends ProviderOptions {
  readonly groups: readonly GroupRole[];
}

const FLOW_MS = 10 * 60_000;
const TIMEOUT_SECONDS = 10;
const MAX_NAME_CHARS = 64;
const PLACE: SecretLocation = { table: 'none', row: 'sign-in', column: 'provider' };

/** What the provider says of the person who has signed in there. */
export interface Vouched {
  /** The issuer and its name for the person, which it never gives to another one. */
  readonly identity: string;
  /** Absent: the provider has verified no address. */
  readonly email?: string;
  readonly name: string;
  readonly groups: readonly string[];
}

/** What the browser has come back with. */
interface ProviderAnswer {
  /** Address that the provider sends browsers back to. */
  readonly callback: string;
  readonly query: string;
  readonly flow: string;
}

export interface Provider {
  /** Host of the issuer, by which people know it. */
  readonly host: string;
  /** Where the browser goes, and what it keeps until it comes back. `undefined`: the provider cannot be asked. */
  begin(callback: string, now: number): Promise<BegunFlow | undefined>;
  /** `undefined`: the provider vouches for nobody, or cannot be asked. The log says why. */
  finish(answer: ProviderAnswer, now: number): Promise<Vouched | undefined>;
}

interface BegunFlow {
  readonly location: string;
  readonly flow: string;
}

interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly until: number;
}

export function createProvider(options: ProviderOptions, ring: Keyring, log: Pick<Logger, 'warn'>): Provider {
  let found: Promise<Configuration> | undefined;
  /** A provider that was away is asked again. */
  const configuration = async () => {
    found ??= discover(options);
    return await found.catch((error: unknown) => {
      found = undefined;
      throw error;
    });
  };
  const orUndefined = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'cannot sign in by the identity provider');
      return undefined;
    }
  };
  return {
    host: new URL(options.issuer).host,
    begin: (callback, now) => orUndefined(async () => await begin(await configuration(), ring, callback, now)),
    finish: (answer, now) => orUndefined(async () => await finish(await configuration(), ring, answer, now)),
  };
}

async function begin(config: Configuration, ring: Keyring, callback: string, now: number): Promise<BegunFlow> {
  const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await library();
  const [state, nonce] = [random.randomState(), random.randomNonce()];
  const flow: Flow = { state, nonce, verifier: random.randomPKCECodeVerifier(), until: now + FLOW_MS };
  const location = buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid email profile',
    code_challenge: await calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  });
  return { location: location.href, flow: seal(ring, PLACE, Buffer.from(JSON.stringify(flow))) };
}

async function finish(config: Configuration, ring: Keyring, answer: ProviderAnswer, now: number): Promise<Vouched> {
  const flow = JSON.parse(String(unseal(ring, PLACE, answer.flow))) as Flow; // `as`: sealed by us
  if (now >= flow.until) throw new Error('the sign-in took longer than ten minutes');
  const { authorizationCodeGrant, fetchUserInfo } = await library();
  const address = new URL(answer.callback);
  address.search = answer.query;
  const tokens = await authorizationCodeGrant(config, address, {
    pkceCodeVerifier: flow.verifier,
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new Error('the provider has sent no ID token');
  if ('email' in claims || config.serverMetadata().userinfo_endpoint === undefined) return vouchedBy(claims);
  const more = await fetchUserInfo(config, tokens.access_token, claims.sub);
  return vouchedBy({ ...more, ...claims });
}

/** Messages alone: what else the library's errors have may be secret. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Loaded with the first sign-in. */
const library = () => import('openid-client');

async function discover({ issuer, clientId, clientSecret }: ProviderOptions): Promise<Configuration> {
  const { discovery, allowInsecureRequests, enableNonRepudiationChecks, ClientSecretBasic, None } = await library();
  const server = new URL(issuer);
  const isLocal = server.protocol === 'http:' && isLoopback(server.hostname.replace(/^\[|\]$/g, ''));
  return await discovery(server, clientId, {}, clientSecret === undefined ? None() : ClientSecretBasic(clientSecret), {
    timeout: TIMEOUT_SECONDS,
    // The ID token's signature is checked too, not only the connection that it came by.
    execute: isLocal ? [enableNonRepudiationChecks, allowInsecureRequests] : [enableNonRepudiationChecks],
  });
}

interface Claims {
  readonly [name: string]: unknown;
  readonly iss: string;
  readonly sub: string;
}

/** Only an address that the provider says to have verified is believed. */
function vouchedBy({ iss, sub, email, email_verified, name, groups }: Claims): Vouched {
  return {
    identity: `${iss} ${sub}`,
    ...(typeof email === 'string' && email_verified === true && { email: normalEmail(email) }),
    name: typeof name === 'string' ? name.slice(0, MAX_NAME_CHARS) : '',
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
}
