/** The console's first module: renders the application into the page. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id root');
createRoot(root).render(
  <StrictMode>
    <main>
      <h1>Causeway</h1>
    </main>
  </StrictMode>,
);
