/** How the service is: its parts, the settings in force, what happened. */
import { useLocation, useSearch } from 'wouter';
import { Page } from '../../../components/page.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { HEALTH_VIEWS, type HealthQuery, healthPath, readHealthQuery } from '../../../routes/operators.ts';
import { useText } from '../../../text/catalogue.ts';
import { healthText } from '../../../text/health.ts';
import { HealthCards } from './health-cards.tsx';
import { ServiceEvents } from './service-events.tsx';
import { ServiceSettings } from './service-settings.tsx';

export function Health() {
  const t = useText(healthText);
  const [, navigate] = useLocation();
  const query = readHealthQuery(useSearch());
  return (
    <Page title={t.title}>
      <Tabs
        label={t.title}
        tabs={HEALTH_VIEWS.map((view) => ({
          to: healthPath({ view }),
          title: t.views[view],
          isOpen: view === query.view,
        }))}
      />
      <View query={query} onChange={(next) => navigate(healthPath(next), { replace: true })} />
    </Page>
  );
}

interface ViewProps {
  readonly query: HealthQuery;
  readonly onChange: (query: HealthQuery) => void;
}

function View({ query, onChange }: ViewProps) {
  switch (query.view) {
    case 'health':
      return <HealthCards />;
    case 'settings':
      return <ServiceSettings />;
    case 'events':
      return <ServiceEvents query={query} onChange={onChange} />;
  }
}
