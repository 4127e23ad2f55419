/** Whether a domain's streams are recorded, and what was. */
import { Fragment } from 'react';
import { useSearch } from 'wouter';
import { readRecordingsQuery, recordingsPath } from '../../routes/streams.ts';
import { LiveDomainPage } from './live-domains.tsx';
import { RecordingSettings } from './recording-settings.tsx';
import { RecordingsCard } from './recordings-card.tsx';

export function Recordings() {
  const { domain: asked, page } = readRecordingsQuery(useSearch());
  return (
    <LiveDomainPage open="recordings" asked={asked} pathOf={(domain) => recordingsPath({ domain })}>
      {(domain) => (
        <Fragment key={domain}>
          <RecordingSettings domain={domain} />
          <RecordingsCard
            of={{ domain }}
            pager={{ page, pathOf: (to) => recordingsPath({ domain: asked, page: to }) }}
          />
        </Fragment>
      )}
    </LiveDomainPage>
  );
}
