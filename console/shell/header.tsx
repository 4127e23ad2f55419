/** The header: mark, account, search, preferences, how live the page is, the person. */
import { Link, useLocation } from 'wouter';
import { Icon } from '../components/icon.tsx';
import { Menu } from '../components/menu.tsx';
import { useStore } from '../lib/store.ts';
import { useChange } from '../queries.ts';
import { PATHS, SECURITY_TABS, securityPath } from '../routes.ts';
import { useServices, useSession } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import styles from './header.module.css';
import { PreferencesMenu } from './preferences-menu.tsx';
import { SearchButton } from './search-button.tsx';

export function Header() {
  return (
    <header className={styles['header']}>
      <Link href={PATHS.overview} className={styles['brand']}>
        <Mark />
        <span>Causeway</span>
      </Link>
      <SearchButton />
      <span className="grow" />
      <AccountMenu />
      <LiveDot />
      <PreferencesMenu />
      <PersonMenu />
    </header>
  );
}

/** A road over water. */
function Mark() {
  return (
    <svg className={styles['mark']} viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <path d="M4 15.5v-1.2a3 3 0 0 1 3-3 3 3 0 0 1 3 3v1.2M10 14.3a3 3 0 0 1 3-3 3 3 0 0 1 3 3v1.2M3 15.7h18M3 8.6h18" />
    </svg>
  );
}

function AccountMenu() {
  const t = useText(shellText);
  const [, navigate] = useLocation();
  const { accounts, account_id, look } = useSession();
  const use = useChange('session.use');
  const name = look?.account_name ?? accounts.find((account) => account.account_id === account_id)?.name;
  if (accounts.length === 0) return null;
  if (accounts.length === 1 && look === null && name !== undefined)
    return <span className={styles['account']}>{name}</span>;
  const items = accounts.map((account) => ({
    title: account.name,
    isChosen: account.account_id === account_id,
    onChoose: () => use.mutate({ account_id: account.account_id }, { onSuccess: () => navigate(PATHS.overview) }),
  }));
  return (
    <Menu label={t.switchAccount} groups={[{ title: t.account, items }]}>
      <span className={styles['account']}>{name ?? t.chooseAccount}</span>
      <Icon name="down" />
    </Menu>
  );
}

function LiveDot() {
  const t = useText(shellText);
  const { caller, live } = useServices();
  const isOnline = useStore(caller.isOnline);
  const streaming = useStore(live);
  const state = isOnline ? streaming : 'offline';
  return (
    <span className={styles['live']} data-state={state} role="status" title={t.liveHelp[state]}>
      <span className="wide-only">{t.live[state]}</span>
    </span>
  );
}

function PersonMenu() {
  const t = useText(shellText);
  const [, navigate] = useLocation();
  const { person, token, accounts, account_id } = useSession();
  const end = useChange('session.end');
  const name = person?.name || person?.email || token?.label || t.person;
  const role = t.roles[accounts.find((account) => account.account_id === account_id)?.role ?? ''];
  const own = SECURITY_TABS.map((tab) => ({ title: t[tab], onChoose: () => navigate(securityPath(tab)) }));
  const signOut = {
    title: t.signOut,
    icon: 'leave',
    onChoose: () => void end.mutateAsync({}).finally(() => location.reload()),
  } as const;
  const who = [name, person && person.name !== '' ? person.email : undefined, role].filter(Boolean).join(' · ');
  return <Menu label={name} icon="person" groups={[{ title: who, items: own }, { items: [signOut] }]} />;
}
