/** The settings in force and where each comes from, read only and without secrets; and the key ring, which is no setting. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../../components/card.tsx';
import { SearchInput } from '../../../components/input.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Select } from '../../../components/select.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { useRead } from '../../../queries.ts';
import { useSession } from '../../../services.tsx';
import { useText } from '../../../text/catalogue.ts';
import { healthText } from '../../../text/health.ts';
import { KeyringCard } from './keyring-card.tsx';

type Setting = DataOf<'operator.getSettings'>['list'][number];

const DEFAULT = 'default';

export function ServiceSettings() {
  const t = useText(healthText);
  const [name, setName] = useState('');
  const [which, setWhich] = useState<'all' | 'set'>('all');
  const load = useRead('operator.getSettings', {});
  const columns = useColumns();
  const mayManage = useSession().access.includes('manage');
  const isShown = (setting: Setting) =>
    setting.name.includes(name.trim().toLowerCase()) && (which === 'all' || setting.source !== DEFAULT);
  return (
    <>
      <p className="help">{t.settingsHelp}</p>
      <search className="row">
        <SearchInput label={t.filter} value={name} onChange={(event) => setName(event.target.value)} />
        <Select
          label={t.source}
          choices={[
            { value: 'all', label: t.anySource },
            { value: 'set', label: t.onlySet },
          ]}
          value={which}
          onChange={setWhich}
        />
      </search>
      <Card isFlush>
        <Loaded
          load={load}
          lines={10}
          isEmpty={({ list }) => !list.some(isShown)}
          empty={<Empty icon="search" title={t.noSettings} />}
        >
          {({ list }) => (
            <Table
              label={t.views.settings}
              columns={columns}
              rows={list.filter(isShown)}
              keyOf={(setting) => setting.name}
            />
          )}
        </Loaded>
      </Card>
      {mayManage && <KeyringCard />}
    </>
  );
}

function useColumns(): readonly Column<Setting>[] {
  const t = useText(healthText);
  return [
    { id: 'name', title: t.setting, phone: 'first', show: ({ name }) => <span className="mono">{name}</span> },
    {
      id: 'value',
      title: t.value,
      show: ({ value, state }) =>
        state === 'shown' ? (
          <span className="mono wrap">{value}</span>
        ) : (
          <span className="dim">{state === 'hidden' ? t.hidden : t.unset}</span>
        ),
    },
    {
      id: 'source',
      title: t.source,
      phone: 'second',
      show: ({ source }) => <span className="dim">{source === DEFAULT ? t.isDefault : source}</span>,
    },
  ];
}
