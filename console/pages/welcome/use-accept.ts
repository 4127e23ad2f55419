/** Accepts a link, and goes on to the console. */
import { useLocation } from 'wouter';
import type { CallOf } from '#contract/operations.ts';
import { useChange } from '../../queries.ts';
import { PATHS } from '../../routes.ts';
import { useEntering } from '../sign-in/use-entering.ts';

/** Throws what the service says against it. */
export function useAccept(): (request: CallOf<'invitation.accept'>) => Promise<void> {
  const [, navigate] = useLocation();
  const accept = useChange('invitation.accept');
  const enter = useEntering();
  return async (request) => {
    await accept.mutateAsync(request);
    await enter();
    navigate(PATHS.overview, { replace: true });
  };
}
