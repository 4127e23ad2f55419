/** A domain as people name it on the command line: by its id or by its name. */
import { domainToASCII } from 'node:url';
import type { Client } from '#client/client.ts';
import { PAGE_SIZE } from './all-pages.ts';
import { CliError } from './context.ts';

/** Digits are an id; anything else is looked for among the account's names. */
export async function findDomainId(client: Client, domain: string): Promise<string> {
  if (/^\d+$/.test(domain)) return domain;
  const name = domainToASCII(domain) || domain.toLowerCase();
  for (let page = 1; ; page++) {
    const { list } = await client.call('domain.list', { page, page_size: PAGE_SIZE, name });
    const found = list.find(({ domain_name }) => domain_name === name);
    if (found !== undefined) return found.domain_id;
    if (list.length < PAGE_SIZE) throw new CliError(`there is no domain ${domain}`);
  }
}
