/** A live domain before an operator: its keys, and what was on air. */
import { useState } from 'react';
import { useParams, useSearch } from 'wouter';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { useRead } from '../../queries.ts';
import { accountPath, readPageQuery } from '../../routes/operators.ts';
import { PATHS } from '../../routes.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { liveDomainText } from '../../text/live-domain.ts';
import { DomainBroadcasts } from './domain-broadcasts.tsx';
import { ForbidDialog } from './forbid-dialog.tsx';
import { KeysCard } from './keys-card.tsx';

/** A domain of any account. */
export interface DomainPlace {
  readonly account_id: string;
  readonly domain_id: string;
}

export function LiveDomain() {
  const t = useText(liveDomainText);
  const { domain = '' } = useParams();
  const { page } = readPageQuery(useSearch());
  // Names are unique among all accounts.
  const load = useRead('operator.listDomains', { name: domain, exact: '1' });
  return (
    <Page title={domain} isName back={{ to: PATHS.allStreams, title: t.back }}>
      <Loaded
        load={load}
        lines={6}
        isEmpty={({ list }) => list.length === 0}
        empty={
          <Card>
            <Empty icon="search" title={t.unknown} text={t.unknownHelp} />
          </Card>
        }
      >
        {({ list }) =>
          list.map(({ account_id, domain_id }) => (
            <Shown key={domain_id} place={{ account_id, domain_id }} domain={domain} page={page} />
          ))
        }
      </Loaded>
    </Page>
  );
}

interface ShownProps {
  readonly place: DomainPlace;
  readonly domain: string;
  /** Page of its broadcasts. */
  readonly page: number;
}

function Shown({ place, domain, page }: ShownProps) {
  const t = useText(liveDomainText);
  const mayWrite = useSession().access.includes('write');
  const [isForbidding, setForbidding] = useState(false);
  return (
    <div className="stack">
      <div className="row">
        <LinkButton icon="accounts" to={accountPath(place.account_id, 'domains')}>
          {t.account(place.account_id)}
        </LinkButton>
        <span className="grow" />
        {mayWrite && <Button onClick={() => setForbidding(true)}>{t.forbidAsk}</Button>}
      </div>
      {mayWrite && <KeysCard place={place} />}
      <DomainBroadcasts {...{ place, domain, page }} />
      {isForbidding && <ForbidDialog place={place} onClose={() => setForbidding(false)} />}
    </div>
  );
}
