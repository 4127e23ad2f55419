/** Joins the parts of the console, and renders it into the page. */
import './zod-config.ts';
import './styles/tokens.css';
import './styles/reset.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import type { Locale } from '#contract/schema/locale.ts';
import { App } from './app.tsx';
import { type Caller, createCaller } from './call.ts';
import { Later } from './components/later.tsx';
import { createToasts } from './components/toasts.tsx';
import { openPreferences } from './lib/open-preferences.ts';
import { createStore } from './lib/store.ts';
import { startLive } from './live-tabs.ts';
import { createProofs } from './proofs.ts';
import { createQueryClient, problemOf } from './queries.ts';
import { PROVIDER_PATH } from './routes.ts';
import { type Services, ServicesContext } from './services.tsx';

/** Awaited by nobody: what a module awaits while it is loaded is kept out of its chunk, and the first load has one. */
void start();

async function start(): Promise<void> {
  const root = document.getElementById('root');
  if (root === null) throw new Error('index.html has no element with the id root');
  const queries = createQueryClient();
  const preferences = openPreferences(localStorage, navigator.languages, document.documentElement);
  const proofs = createProofs();
  const caller = createCaller({
    locale: () => preferences.get().locale,
    prove: proofs.ask,
    onSignedOut: () => void queries.invalidateQueries({ queryKey: ['session.get'] }),
  });
  const toasts = createToasts();
  const arrival = await arriveFromProvider(caller, preferences.get().locale);
  const services: Services = {
    caller,
    preferences,
    toasts,
    proofs,
    entryProblem: arrival?.problem,
    live: startLive(caller, queries),
    drafts: createStore(new Map()),
    reload: () => reload(caller),
  };
  addEventListener('online', () => {
    caller.resume();
    void queries.invalidateQueries();
  });
  createRoot(root).render(<Root queries={queries} services={services} />);
  if (arrival?.link === undefined) return;
  toasts.show(await arrival.link());
  void queries.invalidateQueries({ queryKey: ['person.get'] });
}

/** The arrival of a person whom an identity provider has sent back here; `undefined`: nobody was. */
async function arriveFromProvider(caller: Caller, locale: Locale) {
  if (!location.pathname.endsWith(PROVIDER_PATH)) return undefined;
  const { arrive } = await import('./provider-return.ts');
  return await arrive({ caller, base: import.meta.env.BASE_URL, locale });
}

/** Loads the page anew, or says why not: the browser's own page would take the place of this one. */
async function reload(caller: Caller): Promise<string | undefined> {
  caller.resume();
  try {
    await caller.call('session.get', {});
  } catch (error) {
    const problem = problemOf(error);
    if (problem.kind === 'offline') return problem.text;
  }
  location.reload();
  return undefined;
}

function Root({ queries, services }: { readonly queries: QueryClient; readonly services: Services }) {
  return (
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <ServicesContext value={services}>
            <Router base={import.meta.env.BASE_URL.replace(/\/$/, '')}>
              <Later as="page">
                <App />
              </Later>
            </Router>
          </ServicesContext>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>
  );
}
