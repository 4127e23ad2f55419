/** Plays HTTP-FLV in a video element. No workers: the policy of the console refuses them. */
import mpegts from 'mpegts.js';
import { useEffect, useRef } from 'react';
import styles from './player.module.css';
import { type PlayerEnd, playerEndOf } from './player-end.ts';

interface FlvPlayerProps {
  readonly url: string;
  readonly label: string;
  /** Always the same function, since another one begins anew. */
  readonly onEnd: (why: PlayerEnd) => void;
}

mpegts.LoggingControl.enableAll = false;

export function FlvPlayer({ url, label, onEnd }: FlvPlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => (video.current === null ? undefined : playFlv(video.current, url, onEnd)), [url, onEnd]);
  return <video ref={video} className={styles['video']} aria-label={label} controls muted autoPlay playsInline />;
}

type EndPlaying = () => void;

/** Returns the function that ends it. */
function playFlv(video: HTMLVideoElement, url: string, onEnd: FlvPlayerProps['onEnd']): EndPlaying {
  if (!mpegts.getFeatureList().mseLivePlayback) {
    onEnd('codec');
    return () => undefined;
  }
  const player = mpegts.createPlayer(
    { type: 'flv', isLive: true, url },
    // A player that falls behind catches up; what was seen is not kept.
    { enableWorker: false, lazyLoad: false, liveSync: true, autoCleanupSourceBuffer: true },
  );
  player.on(mpegts.Events.ERROR, (type: string, _detail: string, info?: { readonly code?: unknown }) =>
    onEnd(playerEndOf(type, info?.code)),
  );
  player.on(mpegts.Events.LOADING_COMPLETE, () => onEnd('ended'));
  player.attachMediaElement(video);
  player.load();
  return () => player.destroy();
}
