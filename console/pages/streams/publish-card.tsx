/** Addresses at which a stream is published and played. Asking for them makes the domain's key, so a person has to. */
import { type FormEvent, useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Notice } from '../../components/notice.tsx';
import { Select } from '../../components/select.tsx';
import { Time } from '../../components/time.tsx';
import { problemOf, useChange } from '../../queries.ts';
import type { StreamPlace } from '../../routes/streams.ts';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import styles from './publish-card.module.css';

interface PublishCardProps {
  readonly title: string;
  /** Names of live domains, at least one. */
  readonly domains: readonly string[];
  /** Absent: the person names the stream. */
  readonly place?: StreamPlace;
}

export function PublishCard({ title, domains, place }: PublishCardProps) {
  const t = useText(streamsText);
  const mayWrite = useSession().access.includes('write');
  const info = useChange('live.pushInfo');
  const [first = ''] = domains;
  const [asked, setAsked] = useState({ domain: first, app: 'live', stream: '', host: '', ...place });
  const { domain, app, stream, host } = asked;
  const isWildcard = domain.startsWith('*.');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const names = { domain, app_name: app, stream_name: stream };
    info.mutate({ ...names, ...(isWildcard && { host }) });
  };
  if (!mayWrite) return null;
  const text = (name: 'app' | 'stream' | 'host', label: string) => (
    <Field label={label}>
      {(ids) => (
        <TextInput
          ids={ids}
          isMono
          required
          value={asked[name]}
          onChange={({ target }) => setAsked({ ...asked, [name]: target.value })}
        />
      )}
    </Field>
  );
  return (
    <Card title={title}>
      <div className="stack">
        <form className={styles['form']} onSubmit={submit}>
          {place === undefined && (
            <>
              <Field label={t.domain}>
                {(ids) => (
                  <Select
                    ids={ids}
                    choices={domains.map((value) => ({ value, label: value }))}
                    value={domain}
                    onChange={(value) => setAsked({ ...asked, domain: value })}
                  />
                )}
              </Field>
              {text('app', t.app)}
              {text('stream', t.name)}
            </>
          )}
          {isWildcard && text('host', t.host)}
          <Button type="submit" isBusy={info.isPending}>
            {t.show}
          </Button>
        </form>
        {info.error && <Notice tone="bad">{problemOf(info.error).text}</Notice>}
        {info.data ? <Addresses info={info.data} /> : <p className="help">{t.publishHelp}</p>}
      </div>
    </Card>
  );
}

function Addresses({ info: { publish, play, expire_time } }: { readonly info: DataOf<'live.pushInfo'> }) {
  const t = useText(streamsText);
  return (
    <>
      {publish.length === 0 && <p className="help">{t.noRtmp}</p>}
      {publish.map(({ protocol, url, server, stream_key }) => (
        <div key={protocol} className={styles['group']}>
          <h3>{`${protocol.toUpperCase()} · ${t.forObs}`}</h3>
          <CopyBox text={server} what={t.server} />
          <CopyBox text={stream_key} what={t.streamKey} />
          <h3>{`${protocol.toUpperCase()} · ${t.forFfmpeg}`}</h3>
          <CopyBox text={ffmpegCommand(url)} what={t.forFfmpeg} />
        </div>
      ))}
      <div className={styles['group']}>
        <h3>{t.forPlayers}</h3>
        {play.map(({ protocol, url }) => (
          <CopyBox key={protocol} text={url} what={protocol} />
        ))}
      </div>
      <p className="help">
        {t.until} <Time at={expire_time * 1000} />
      </p>
    </>
  );
}

/** The address is quoted: a shell would end it at `&`. */
function ffmpegCommand(url: string): string {
  return `ffmpeg -re -i file.mp4 -c copy -f flv '${url}'`;
}
