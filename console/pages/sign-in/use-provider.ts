/** Sends the browser to the identity provider. */

import { goToProvider, type ProviderTrip } from '../../provider-return.ts';
import { useAsk } from '../../queries.ts';

export function useProvider(purpose: ProviderTrip['purpose']) {
  const begin = useAsk('session.beginProvider');
  return {
    isBusy: begin.isPending,
    error: begin.error,
    go: () =>
      begin.mutate(
        {},
        {
          onSuccess: ({ location: address, flow }) =>
            goToProvider(address, { purpose, flow, wanted: location.pathname + location.search }),
        },
      ),
  };
}
