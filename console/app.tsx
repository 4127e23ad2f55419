/** The sign-in, or the console. The address stays while a person signs in, so that the page is there afterwards. */

import { isSignedOut } from './call.ts';
import { Loaded } from './components/loaded.tsx';
import { MAIN_ID } from './components/page.tsx';
import { ToastViewport } from './components/toasts.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { loadOf, useReadQuery } from './queries.ts';
import { SessionContext, useServices } from './services.tsx';
import { Shell } from './shell/shell.tsx';
import { useText } from './text/catalogue.ts';
import { commonText } from './text/common.ts';

export function App() {
  const { caller, toasts } = useServices();
  const t = useText(commonText);
  const query = useReadQuery('session.get', {}, { everyMs: false });
  if (query.error !== null && isSignedOut(query.error)) return <SignIn hasEnded={query.data !== undefined} />;
  const load = loadOf(query, caller.resume);
  if (load.kind !== 'ready') {
    return (
      <main id={MAIN_ID}>
        <Loaded load={load}>{() => null}</Loaded>
      </main>
    );
  }
  return (
    <SessionContext value={load.data}>
      <Shell />
      <ToastViewport toasts={toasts} closeLabel={t.close} />
    </SessionContext>
  );
}
