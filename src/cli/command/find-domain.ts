/** A domain as people name it on the command line: by its id or by its name. */
import { domainToASCII } from 'node:url';
import type { Client } from '#client/transport.ts';
import { describeError } from '#contract/errors/service-error.ts';
import { PAGE_SIZE } from './all-pages.ts';
import { CliError } from './context.ts';

/** Digits are an id; anything else is looked for among the account's names. */
export async function findDomainId(client: Client, domain: string): Promise<string> {
  if (isId(domain)) return domain;
  const name = asciiName(domain);
  for (let page = 1; ; page++) {
    const { list } = await client.call('domain.list', { page, page_size: PAGE_SIZE, name });
    const found = list.find(({ domain_name }) => domain_name === name);
    if (found !== undefined) return found.domain_id;
    if (list.length < PAGE_SIZE) throw noDomain(domain);
  }
}

/** The name of a domain, for operations that take names only. */
export async function findDomainName(client: Client, domain: string): Promise<string> {
  if (!isId(domain)) return domain;
  return (await client.call('domain.get', { domain_id: domain })).domain_name;
}

/**
 * Returns the id of a domain of one account or, for operators, without `account`, of any. Throws `CliError` if there is
 * none.
 */
export async function findAnyDomainId(client: Client, domain: string, account?: string): Promise<string> {
  if (isId(domain)) return domain;
  const { list } = await client.call('operator.listDomains', {
    account_id: account,
    name: asciiName(domain),
    exact: '1',
  });
  const [found] = list;
  if (found !== undefined) return found.domain_id;
  throw account === undefined ? noDomain(domain) : new CliError(`account ${account} has no domain ${domain}`);
}

function isId(domain: string): boolean {
  return /^\d+$/.test(domain);
}

function asciiName(domain: string): string {
  return domainToASCII(domain) || domain.toLowerCase();
}

function noDomain(domain: string): CliError {
  return new CliError(describeError('domainNotFound', { domainId: domain }, 'en'));
}
