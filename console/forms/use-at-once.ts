/** A change that is made at once, with no dialog that could say how it went: a toast does. */
import type { CallOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { problemOf, useChange } from '../queries.ts';
import { useServices } from '../services.tsx';

interface Telling {
  /** The object, such as `edge fra1`. */
  readonly about: string;
  /** The object's name, above the reason of a refusal. */
  readonly name: string;
  /** What is said when it is done; absent: the page shows it. */
  readonly done?: string;
}

export function useAtOnce<N extends RouteName>(operation: N) {
  const { toasts } = useServices();
  const change = useChange(operation);
  const run = (request: CallOf<N>, { about, name, done }: Telling) =>
    change.mutate(request, {
      onSuccess: () => done !== undefined && toasts.show({ about, title: done }),
      onError: (error) => toasts.show({ about, title: name, text: problemOf(error).text }),
    });
  return { run, isBusy: change.isPending };
}
