/** The ids of domains that somebody has named. */
import { useState } from 'react';
import { useAsk } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { tokensText } from '../../text/tokens.ts';

const PAGE_SIZE = 100;

interface DomainIds {
  /** Returns `undefined` if one is not found; `error` says which. */
  readonly find: (names: readonly string[]) => Promise<readonly string[] | undefined>;
  readonly error: string | undefined;
  readonly isBusy: boolean;
}

export function useDomainIds(): DomainIds {
  const t = useText(tokensText);
  const list = useAsk('domain.list');
  const [error, setError] = useState<string>();
  const findOne = async (name: string) => {
    const found = await list.mutateAsync({ name, page_size: PAGE_SIZE });
    const id = found.list.find(({ domain_name }) => domain_name === name)?.domain_id;
    if (id === undefined) throw new Error(t.domainMissing(name));
    return id;
  };
  const find = async (names: readonly string[]) => {
    setError(undefined);
    try {
      return await Promise.all(names.map((name) => findOne(name.toLowerCase())));
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : String(thrown));
      return undefined;
    }
  };
  return { find, error, isBusy: list.isPending };
}
