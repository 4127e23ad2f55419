/** SMS by carriers: connectors as they are now, routes, prices, and the services of all accounts. */
import { useSearch } from 'wouter';
import { LinkButton } from '../../../components/button.tsx';
import { Page } from '../../../components/page.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import {
  CONNECTOR_VIEWS,
  type ConnectorsQuery,
  connectorsPath,
  editConnectorPath,
  readConnectorsQuery,
} from '../../../routes/operators.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { connectorsText } from '../../../text/connectors.ts';
import { AllServices } from './all-services.tsx';
import { ConnectorCards } from './connector-cards.tsx';
import { OptOuts } from './opt-outs.tsx';
import { Prices } from './prices.tsx';
import { Routes } from './sms-routes.tsx';
import { Unread } from './unread.tsx';

export function Connectors() {
  const t = useText(connectorsText);
  const query = readConnectorsQuery(useSearch());
  const { view } = query;
  const { access } = useSession();
  return (
    <Page
      title={t.title}
      actions={
        view === 'connectors' &&
        access.includes('write') && (
          <LinkButton kind="primary" icon="plus" to={editConnectorPath()}>
            {t.add}
          </LinkButton>
        )
      }
    >
      <Tabs
        label={t.title}
        tabs={CONNECTOR_VIEWS.map((one) => ({
          to: connectorsPath({ view: one }),
          title: t.views[one],
          isOpen: one === view,
        }))}
      />
      <View {...query} />
    </Page>
  );
}

function View({ view, page }: ConnectorsQuery) {
  switch (view) {
    case 'connectors':
      return <ConnectorCards />;
    case 'routes':
      return <Routes />;
    case 'prices':
      return <Prices />;
    case 'services':
      return <AllServices page={page} />;
    case 'optOuts':
      return <OptOuts />;
    case 'unread':
      return <Unread />;
  }
}
