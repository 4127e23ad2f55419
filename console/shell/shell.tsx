/** The frame of all pages: header, menu, content. */
import { useRef } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { Later } from '../components/later.tsx';
import { Skeleton } from '../components/loaded.tsx';
import { Arrived, MAIN_ID } from '../components/page.tsx';
import { MissingPage } from '../pages/missing-page.tsx';
import { menuOf, pagesOf } from '../pages.tsx';
import { PATHS } from '../routes.ts';
import { useSession } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import { Banners } from './banners.tsx';
import { BottomBar } from './bottom-bar.tsx';
import { Header } from './header.tsx';
import { Keys } from './keys.tsx';
import { ProofHost } from './proof-host.tsx';
import styles from './shell.module.css';
import { SideMenu } from './side-menu.tsx';

export function Shell() {
  const t = useText(shellText);
  const [path] = useLocation();
  const first = useRef(path);
  const hasMoved = useRef(false);
  hasMoved.current ||= path !== first.current;
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href={`#${MAIN_ID}`}>
        {t.skip}
      </a>
      <Header />
      <SideMenu />
      <main id={MAIN_ID} className={styles['main']} tabIndex={-1}>
        <Banners />
        <Arrived value={hasMoved.current}>
          <Later as="page" about={path} fallback={<Skeleton lines={6} />}>
            <Pages />
          </Later>
        </Arrived>
      </main>
      <BottomBar />
      <Keys />
      <ProofHost />
    </div>
  );
}

function Pages() {
  const session = useSession();
  const menu = menuOf(session);
  // Operators begin with their work, and not with the members of their own account.
  const start = menu.find(({ group }) => group !== 'account') ?? menu[0];
  return (
    <Switch>
      {pagesOf(session).map(({ path, show }) => (
        <Route key={path} path={path} component={show} />
      ))}
      {start && start.page !== 'overview' && (
        <Route path={PATHS.overview}>
          <Redirect to={PATHS[start.page]} replace />
        </Route>
      )}
      <Route>
        <MissingPage />
      </Route>
    </Switch>
  );
}
