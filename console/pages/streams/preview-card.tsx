/** A stream that plays through control when a person wants it. The player is loaded then. */
import { Suspense, useCallback, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Notice } from '../../components/notice.tsx';
import { lazily } from '../../lib/lazily.ts';
import { problemOf, useAsk } from '../../queries.ts';
import type { StreamPlace } from '../../routes/streams.ts';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import styles from './player.module.css';
import type { PlayerEnd } from './player-end.ts';

const FlvPlayer = lazily(async () => (await import('./flv-player.tsx')).FlvPlayer);

interface PreviewCardProps {
  readonly place: StreamPlace;
  readonly isOnAir: boolean;
}

export function PreviewCard({ place: { domain, app, stream }, isOnAir }: PreviewCardProps) {
  const t = useText(streamsText);
  const preview = useAsk('live.preview');
  const [url, setUrl] = useState<string>();
  const [end, setEnd] = useState<PlayerEnd>();
  const start = () => {
    setEnd(undefined);
    preview.mutate({ domain, app_name: app, stream_name: stream }, { onSuccess: (address) => setUrl(address.url) });
  };
  const stop = useCallback((why?: PlayerEnd) => {
    setUrl(undefined);
    setEnd(why);
  }, []);
  return (
    <Card title={t.preview} actions={url !== undefined && <Button onClick={() => stop()}>{t.stop}</Button>}>
      <div className="stack">
        <div className={styles['screen']}>
          {url !== undefined && (
            <Suspense>
              <FlvPlayer url={url} label={t.player(`${app}/${stream}`)} onEnd={stop} />
            </Suspense>
          )}
          {url === undefined && isOnAir && (
            <Button kind="primary" icon="play" isBusy={preview.isPending} onClick={start}>
              {t.play}
            </Button>
          )}
          {url === undefined && !isOnAir && <p className={styles['word']}>{t.offAir}</p>}
        </div>
        {end && <Notice tone={end === 'ended' ? 'info' : 'bad'}>{t.ends[end]}</Notice>}
        {preview.error && <Notice tone="bad">{problemOf(preview.error).text}</Notice>}
        <p className="help">{t.previewHelp}</p>
      </div>
    </Card>
  );
}
