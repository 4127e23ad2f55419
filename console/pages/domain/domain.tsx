/** One domain: its head, and its parts as tabs. What was changed and not applied is kept. */
import { useParams } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { CopyButton } from '../../components/copy.tsx';
import { Later } from '../../components/later.tsx';
import { Loaded, Skeleton } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { lazily } from '../../lib/lazily.ts';
import { useStore } from '../../lib/store.ts';
import { useRead } from '../../queries.ts';
import { DOMAIN_TABS, type DomainTab, domainPath, readDomainTab } from '../../routes/domains.ts';
import { PATHS } from '../../routes.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainText } from '../../text/domain.ts';
import { shellText } from '../../text/shell.ts';
import { DomainState, whileSettling } from '../domains/domain-state.tsx';
import { DnsTab } from './dns-tab.tsx';
import { DomainActions } from './domain-actions.tsx';
import { DomainOverview } from './domain-overview.tsx';
import { ExplainTab } from './explain-tab.tsx';
import { PropagationTab } from './propagation-tab.tsx';
import type { Draft } from './settings-draft.ts';

/** Tabs that load the contract, since it knows all settings. */
const SettingsTab = lazily(async () => (await import('./settings-tab.tsx')).SettingsTab);
const RevisionsTab = lazily(async () => (await import('./revisions-tab.tsx')).RevisionsTab);

export type DomainData = DataOf<'domain.get'>;

const NO_DRAFT: Draft = new Map();

export function Domain() {
  const { id = '' } = useParams();
  // What was read of one domain is never shown for another.
  return <DomainPage key={id} id={id} />;
}

function DomainPage({ id }: { readonly id: string }) {
  const t = useText(domainText);
  const shell = useText(shellText);
  const { tab: given } = useParams();
  const tab = readDomainTab(given);
  const load = useRead('domain.get', { domain_id: id }, { everyMs: whileSettling });
  const { drafts } = useServices();
  const draft = useStore(drafts).get(id) ?? NO_DRAFT;
  const setDraft = (next: Draft) => drafts.set(new Map(drafts.get()).set(id, next));
  const domain = load.kind === 'ready' ? load.data : undefined;
  return (
    <Page
      title={domain?.domain_name ?? shell.pages.domains}
      isName={domain !== undefined}
      back={{ to: PATHS.domains, title: shell.pages.domains }}
      note={domain && <DomainState domain={domain} />}
      actions={
        domain && (
          <>
            <span className="mono dim wide-only">{domain.cname}</span>
            <CopyButton text={domain.cname} what={t.alias} />
            <DomainActions domain={domain} />
          </>
        )
      }
    >
      <Tabs
        label={t.parts}
        tabs={DOMAIN_TABS.map((name) => ({ to: domainPath(id, name), title: t.tabs[name], isOpen: name === tab }))}
      />
      <Loaded load={load} lines={6}>
        {(data) => (
          <Later as="part" about={tab} fallback={<Skeleton lines={6} />}>
            <Tab {...{ tab, draft, setDraft }} domain={data} />
          </Later>
        )}
      </Loaded>
    </Page>
  );
}

interface TabProps {
  readonly tab: DomainTab;
  readonly domain: DomainData;
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
}

function Tab({ tab, domain, draft, setDraft }: TabProps) {
  switch (tab) {
    case 'overview':
      return <DomainOverview domain={domain} />;
    case 'dns':
      return <DnsTab domain={domain} />;
    case 'explain':
      return <ExplainTab domain={domain} />;
    case 'revisions':
      return <RevisionsTab domain={domain} />;
    case 'propagation':
      return <PropagationTab domain={domain} />;
    default:
      return <SettingsTab {...{ tab, domain, draft, setDraft }} />;
  }
}
