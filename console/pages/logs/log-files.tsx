/** The daily files of a domain's log. */
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Table } from '../../components/table.tsx';
import { formatBytes } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { logsText } from '../../text/logs.ts';

/** Addresses are signed for a limited time, and today's file grows. */
const EVERY_MS = 60_000;

export function LogFiles({ domain }: { readonly domain: string }) {
  const t = useText(logsText);
  const locale = usePreference('locale');
  const load = useRead('log.list', { domain }, { everyMs: EVERY_MS });
  return (
    <Card isFlush>
      <Loaded
        load={load}
        isEmpty={({ logfiles }) => logfiles.length === 0}
        empty={<Empty icon="logs" title={t.noFiles} text={t.noFilesHelp} />}
      >
        {({ logfiles }) => (
          <Table
            label={t.views.files}
            rows={logfiles}
            keyOf={({ name }) => name}
            columns={[
              {
                id: 'file',
                title: t.file,
                phone: 'first',
                show: ({ name, url }) => (
                  <a className="mono" href={url} download={name}>
                    <Icon name="download" /> {name}
                  </a>
                ),
              },
              { id: 'day', title: t.day, phone: 'hidden', show: ({ logTime }) => logTime },
              {
                id: 'size',
                title: t.size,
                isNumber: true,
                phone: 'second',
                show: ({ size }) => formatBytes(Number(size), locale),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
