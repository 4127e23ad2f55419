/** Whether a domain's name points to this service, as name servers see it. */
import { Resolver } from 'node:dns/promises';

type NameState = 'here' | 'elsewhere' | 'missing' | 'mixed' | 'unknown';

export interface NameCheck {
  readonly state: NameState;
  /** Names and addresses that the name leads to, each once. */
  readonly found: readonly string[];
  readonly resolvers: readonly { readonly resolver: string; readonly state: NameState }[];
}

/** Where a name leads, as one name server says. */
interface Followed {
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}

/** Limit of one query. */
const QUERY_MS = 2_000;
/** Limit of the whole check. */
const CHECK_MS = 8_000;
const MAX_NAMES = 8;
const MAX_FOUND = 50;
const MAX_RESOLVERS = 4;

/**
 * Asks each of the name servers, `address` or `address:port`. `alias`: what the domain's CNAME is to be; a name without
 * one may have its addresses instead. Never rejects.
 */
export async function checkName(name: string, alias: string, resolvers: readonly string[]): Promise<NameCheck> {
  const asked = await Promise.all(
    resolvers.slice(0, MAX_RESOLVERS).map(async (resolver) => ({ resolver, ...(await askOne(resolver, name, alias)) })),
  );
  const known = new Set(asked.map(({ state }) => state).filter((state) => state !== 'unknown'));
  const [only = 'unknown'] = known;
  return {
    state: known.size > 1 ? 'mixed' : only,
    found: [...new Set(asked.flatMap(({ found }) => found))].slice(0, MAX_FOUND),
    resolvers: asked.map(({ resolver, state }) => ({ resolver, state })),
  };
}

async function askOne(
  server: string,
  name: string,
  alias: string,
): Promise<{ readonly state: NameState; readonly found: readonly string[] }> {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: 1 });
  const ending = setTimeout(() => resolver.cancel(), CHECK_MS);
  try {
    resolver.setServers([server]);
    const followed = await follow(resolver, name);
    const state = nameStateOf(followed, alias, () => addressesOf(resolver, alias));
    return { state: await state, found: [...followed.names, ...followed.addresses] };
  } catch {
    return { state: 'unknown', found: [] };
  } finally {
    clearTimeout(ending);
  }
}

/** `addressesOfAlias` is asked only if the name has addresses without leading to the alias. */
async function nameStateOf(
  { names, addresses }: Followed,
  alias: string,
  addressesOfAlias: () => Promise<readonly string[]>,
): Promise<NameState> {
  if (names.includes(alias)) return 'here';
  if (addresses.length === 0) return names.length === 0 ? 'missing' : 'elsewhere';
  const own = new Set(await addressesOfAlias());
  return addresses.every((address) => own.has(address)) ? 'here' : 'elsewhere';
}

async function follow(resolver: Resolver, name: string): Promise<Followed> {
  const names: string[] = [];
  for (let at = name; names.length < MAX_NAMES; ) {
    const [next] = await orNone(resolver.resolveCname(at));
    const target = next?.toLowerCase().replace(/\.$/, '');
    if (target === undefined || names.includes(target)) break;
    names.push(target);
    at = target;
  }
  return { names, addresses: await addressesOf(resolver, names.at(-1) ?? name) };
}

async function addressesOf(resolver: Resolver, name: string): Promise<readonly string[]> {
  const [v4, v6] = await Promise.all([orNone(resolver.resolve4(name)), orNone(resolver.resolve6(name))]);
  return [...v4, ...v6].sort();
}

/** No such name, or no such record. */
const ABSENT = ['ENOTFOUND', 'ENODATA'];

async function orNone(answer: Promise<string[]>): Promise<readonly string[]> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT.includes(String(error.code))) return [];
    throw error;
  }
}
