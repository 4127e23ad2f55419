/**
 * Certificates in files of domains are named by their title if no other has it, since a certificate that is renewed gets another
 * key; else by their key.
 */
import type { Client } from '#client/transport.ts';
import type { DataOf } from '#contract/operations.ts';
import { readFullPages } from '../command/all-pages.ts';
import { CliError } from '../command/context.ts';
import type { Topics } from './domain-file.ts';

const KEYS: readonly string[] = ['ssl_key', 'ssl_key_second'];

export interface CertificateTitles {
  /** Keys to titles. */
  name(settings: Topics): Promise<Topics>;
  /** Titles, and keys, to keys. Throws `CliError` for a title of several certificates, or of none. */
  resolve(settings: Topics): Promise<Topics>;
}

export function createCertificateTitles(client: Client): CertificateTitles {
  let listed: Promise<DataOf<'certificate.list'>> | undefined;
  const list = () => {
    listed ??= readFullPages((page) => client.call('certificate.list', page)).then((all) => [...all]);
    return listed;
  };
  const replaced = async (settings: Topics, replace: (value: string, all: DataOf<'certificate.list'>) => string) => {
    const { ssl } = settings;
    const named = Object.entries(ssl ?? {}).filter(([name, value]) => KEYS.includes(name) && value !== '');
    if (named.length === 0) return settings;
    const all = await list();
    return {
      ...settings,
      ssl: { ...ssl, ...Object.fromEntries(named.map(([name, value]) => [name, replace(String(value), all)])) },
    };
  };
  return {
    name: (settings) =>
      replaced(settings, (key, all) => {
        const title = all.find(({ ssl_key }) => ssl_key === key)?.title;
        const isUnique = all.filter((one) => one.title === title || one.ssl_key === title).length === 1;
        return title !== undefined && isUnique ? title : key;
      }),
    resolve: (settings) =>
      replaced(settings, (text, all) => {
        if (all.some(({ ssl_key }) => ssl_key === text)) return text;
        const [found, another] = all.filter(({ title }) => title === text);
        if (found === undefined) throw new CliError(`ssl: the account has no certificate ${JSON.stringify(text)}`);
        if (another === undefined) return found.ssl_key;
        throw new CliError(`ssl: several certificates have the title ${JSON.stringify(text)}; name one by its key`);
      }),
  };
}
