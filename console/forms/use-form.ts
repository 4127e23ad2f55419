/** The values of a form, and what the contract says against them once they were sent or left. */
import { useState } from 'react';
import type { RequestContract } from '#contract/schema/operation.ts';
import { usePreference } from '../services.tsx';
import { problemsOf } from './problems.ts';

export interface FormState<V> {
  readonly values: V;
  readonly set: (changed: Partial<V>) => void;
  /** Problems of fields that were left, or of all after an attempt to send. */
  readonly errors: { readonly [K in keyof V]?: string };
  /** Notes that a field was left. */
  readonly leave: (name: keyof V) => void;
  /** Whether the values can be sent; from then on all errors are shown. */
  readonly check: () => boolean;
}

export function useForm<V extends Readonly<Record<string, unknown>>>(
  contract: RequestContract,
  initial: V,
): FormState<V> {
  const locale = usePreference('locale');
  const [values, setValues] = useState(initial);
  const [left, setLeft] = useState<readonly (keyof V)[]>([]);
  const problems = problemsOf(contract, values, locale);
  const shown = Object.entries(problems).filter(([name]) => left.includes(name));
  return {
    values,
    set: (changed) => setValues((before) => ({ ...before, ...changed })),
    errors: Object.fromEntries(shown) as FormState<V>['errors'], // names of the contract's fields
    leave: (name) => setLeft((before) => [...before, name]),
    check: () => {
      setLeft(Object.keys(contract.fields));
      return Object.keys(problems).length === 0;
    },
  };
}
