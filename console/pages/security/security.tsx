/** How the person signs in, and where the person is signed in. */
import { useParams } from 'wouter';
import { CopyBox } from '../../components/copy.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useRead } from '../../queries.ts';
import { readSecurityTab } from '../../routes/account.ts';
import { SECURITY_TABS, securityPath } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { securityText } from '../../text/security.ts';
import { PasskeysCard } from './passkeys-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { ProviderCard } from './provider-card.tsx';
import { RecoveryCard } from './recovery-card.tsx';
import { SessionsTab } from './sessions-tab.tsx';
import { TotpCard } from './totp-card.tsx';

export function Security() {
  const t = useText(securityText);
  const tab = readSecurityTab(useParams()['tab']);
  const tabs = SECURITY_TABS.map((name) => ({ to: securityPath(name), title: t.tabs[name], isOpen: name === tab }));
  return (
    <Page title={t.title}>
      <Tabs label={t.parts} tabs={tabs} />
      {tab === 'security' ? <Ways /> : <SessionsTab />}
    </Page>
  );
}

function Ways() {
  const t = useText(securityText);
  const { person } = useSession();
  if (person !== null) return <OwnWays />;
  return <Empty icon="tokens" title={t.ofToken} text={t.ofTokenHelp} action={<CopyBox text={t.makePerson} />} />;
}

function OwnWays() {
  const load = useRead('person.get', {});
  return (
    <Loaded load={load} lines={8}>
      {(person) => (
        <div className="stack">
          <PasskeysCard />
          <PasswordCard person={person} />
          <TotpCard person={person} />
          <RecoveryCard person={person} />
          <ProviderCard person={person} />
        </div>
      )}
    </Loaded>
  );
}
