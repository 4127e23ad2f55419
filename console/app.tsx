/** The sign-in, or the console. The address stays while a person signs in, so that the page is there afterwards. */
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { Loaded } from './components/loaded.tsx';
import { MAIN_ID } from './components/page.tsx';
import { ToastViewport } from './components/toasts.tsx';
import { useEntryStep } from './entry-step.ts';
import { lazily } from './lib/lazily.ts';
import { loadOf, useReadQuery } from './queries.ts';
import { WELCOME_PATH } from './routes.ts';
import { type Session, SessionContext, useServices } from './services.tsx';
import { viewOf } from './session-state.ts';
import { useOwnPreferences } from './shell/own-preferences.ts';
import { Shell } from './shell/shell.tsx';
import { useText } from './text/catalogue.ts';
import { commonText } from './text/common.ts';

const SignIn = lazily(async () => (await import('./pages/sign-in/sign-in.tsx')).SignIn);
const Welcome = lazily(async () => (await import('./pages/welcome/welcome.tsx')).Welcome);

export function App() {
  const [path] = useLocation();
  return path === WELCOME_PATH ? <Welcome /> : <Console />;
}

function Console() {
  const { caller } = useServices();
  const query = useReadQuery('session.get', {}, { keepsPrevious: true });
  const step = useEntryStep(query);
  if (step !== undefined) return <SignIn step={step} hasEnded={query.data !== undefined} />;
  const load = loadOf(query, caller.resume);
  if (load.kind === 'ready') return <SignedIn session={load.data} />;
  return (
    <main id={MAIN_ID}>
      <Loaded load={load}>{() => null}</Loaded>
    </main>
  );
}

function SignedIn({ session }: { readonly session: Session }) {
  const { toasts } = useServices();
  const t = useText(commonText);
  const view = viewOf(session);
  const first = useRef(view);
  useOwnPreferences(session);
  useEffect(() => {
    if (view !== first.current) location.reload();
  }, [view]);
  return (
    <SessionContext value={session}>
      <Shell />
      <ToastViewport toasts={toasts} closeLabel={t.close} />
    </SessionContext>
  );
}
