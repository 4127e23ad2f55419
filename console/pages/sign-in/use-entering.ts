/** Looks who is signed in now, after a step of signing in. */
import { isSignedOut } from '../../call.ts';
import { useFresh } from '../../queries.ts';

/** Returns whether the browser has kept the cookie of the session. */
export function useEntering(): () => Promise<boolean> {
  const read = useFresh('session.get');
  return async () => {
    try {
      await read({});
      return true;
    } catch (error) {
      return !isSignedOut(error); // such as `secondFactorAwaited`, which the page shows
    }
  };
}
