/** Plays the HLS playlist of a recording in a video element. No workers: the policy of the console refuses them. */
import Hls from 'hls.js/light';
import { useEffect, useRef } from 'react';
import styles from './player.module.css';

interface HlsPlayerProps {
  readonly url: string;
  readonly label: string;
  /** Always the same function, since another one begins anew. */
  readonly onFailure: () => void;
}

export function HlsPlayer({ url, label, onFailure }: HlsPlayerProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => (video.current === null ? undefined : playHls(video.current, url, onFailure)), [url, onFailure]);
  return <video ref={video} className={styles['video']} aria-label={label} controls muted autoPlay playsInline />;
}

type EndPlaying = () => void;

/** Returns the function that ends it. */
function playHls(video: HTMLVideoElement, url: string, onFailure: () => void): EndPlaying {
  if (!Hls.isSupported()) {
    video.src = url; // Safari plays HLS itself
    video.onerror = onFailure;
    return () => video.removeAttribute('src');
  }
  const player = new Hls({ enableWorker: false });
  player.on(Hls.Events.ERROR, (_event, { fatal }) => {
    if (fatal) onFailure();
  });
  player.loadSource(url);
  player.attachMedia(video);
  return () => player.destroy();
}
