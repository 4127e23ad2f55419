/** Joins the parts of the console, and renders it into the page. */
import './zod-config.ts';
import './styles/tokens.css';
import './styles/reset.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { App } from './app.tsx';
import { createCaller } from './call.ts';
import { Later } from './components/later.tsx';
import { createToasts } from './components/toasts.tsx';
import { openPreferences } from './lib/open-preferences.ts';
import { createStore } from './lib/store.ts';
import { startLive } from './live-tabs.ts';
import { createProofs } from './proofs.ts';
import { createQueryClient, problemOf } from './queries.ts';
import { PROVIDER_PATH } from './routes.ts';
import { type Services, ServicesContext } from './services.tsx';

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
// An identity provider has sent the browser back.
const arrival = location.pathname.endsWith(PROVIDER_PATH)
  ? await (await import('./provider-return.ts')).arrive({
      caller,
      base: import.meta.env.BASE_URL,
      locale: preferences.get().locale,
    })
  : undefined;
const services: Services = {
  caller,
  preferences,
  toasts,
  proofs,
  entryProblem: arrival?.problem,
  live: startLive(caller, queries),
  drafts: createStore(new Map()),
  reload: async () => {
    caller.resume();
    try {
      await caller.call('session.get', {});
    } catch (error) {
      const problem = problemOf(error);
      if (problem.kind === 'offline') return problem.text; // the browser's own page would take the place of this one
    }
    location.reload();
    return undefined;
  },
};

addEventListener('online', () => {
  caller.resume();
  void queries.invalidateQueries();
});

createRoot(root).render(
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
  </StrictMode>,
);

if (arrival?.link !== undefined) {
  toasts.show(await arrival.link());
  void queries.invalidateQueries({ queryKey: ['person.get'] });
}
