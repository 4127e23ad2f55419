/** Adds domains one after another, with a result for each. */
import { useState } from 'react';
import type { CallOf, DataOf } from '#contract/operations.ts';
import type { Problem } from '../../components/load.ts';
import { problemOf, useChange } from '../../queries.ts';

/** Neither an id nor a problem: it has not been its turn. */
export interface AddedRow {
  readonly name: string;
  readonly id?: string;
  readonly problem?: Problem;
  /** What the service says against the origins of one that was added. */
  readonly warnings?: DataOf<'domain.add'>['warnings'];
}

export function useAddAll() {
  const add = useChange('domain.add');
  const [rows, setRows] = useState<readonly AddedRow[]>([]);
  const [isBusy, setBusy] = useState(false);
  const addAll = async (names: readonly string[], values: Omit<CallOf<'domain.add'>, 'domain'>) => {
    setBusy(true);
    setRows(names.map((name) => ({ name })));
    for (const name of names) {
      const row = await add
        .mutateAsync({ ...values, domain: name })
        .then(({ domain_id, warnings }): AddedRow => ({ name, id: domain_id, warnings }))
        .catch((error: unknown): AddedRow => ({ name, problem: problemOf(error) }));
      setRows((before) => before.map((one) => (one.name === name ? row : one)));
    }
    setBusy(false);
  };
  return { rows, isBusy, addAll, forget: () => setRows([]) };
}
