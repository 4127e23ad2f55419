/** One SMS service: its key and state, its settings, and its webhook with what was posted. */
import { useParams } from 'wouter';
import { CopyButton } from '../../components/copy.tsx';
import { Later } from '../../components/later.tsx';
import { Loaded, Skeleton } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { lazily } from '../../lib/lazily.ts';
import { useRead } from '../../queries.ts';
import { readServiceTab, SERVICE_TABS, servicePath } from '../../routes/messaging.ts';
import { PATHS } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { servicesText } from '../../text/services.ts';
import { ServiceState } from './services.tsx';
import { StateButton } from './state-button.tsx';

/** Loads the contract. */
const SettingsTab = lazily(async () => (await import('./settings-tab.tsx')).SettingsTab);
const WebhookTab = lazily(async () => (await import('./webhook-tab.tsx')).WebhookTab);

export function Service() {
  const { key = '' } = useParams();
  // What was typed for one service is never kept for another.
  return <ServicePage key={key} appKey={key} />;
}

function ServicePage({ appKey }: { readonly appKey: string }) {
  const t = useText(servicesText);
  const { tab: given } = useParams();
  const tab = readServiceTab(given);
  const load = useRead('sms.getSettings', { app_key: appKey });
  const service = load.kind === 'ready' ? load.data : undefined;
  const mayWrite = useSession().access.includes('write');
  return (
    <Page
      title={service?.name ?? t.title}
      back={{ to: PATHS.services, title: t.title }}
      note={service && <ServiceState status={service.status} />}
      actions={
        service && (
          <>
            <span className="mono dim wide-only">{appKey}</span>
            <CopyButton text={appKey} what={t.key} />
            {mayWrite && <StateButton service={service} />}
          </>
        )
      }
    >
      <Tabs
        label={t.parts}
        tabs={SERVICE_TABS.map((name) => ({
          to: servicePath(appKey, name),
          title: t.tabs[name],
          isOpen: name === tab,
        }))}
      />
      <Loaded load={load} lines={6}>
        {(settings) => (
          <Later as="part" about={tab} fallback={<Skeleton lines={6} />}>
            {tab === 'settings' ? <SettingsTab settings={settings} /> : <WebhookTab appKey={appKey} />}
          </Later>
        )}
      </Loaded>
    </Page>
  );
}
