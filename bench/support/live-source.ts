/** One broadcast, made once by ffmpeg and published again and again as an encoder would: 720p30, H.264 and AAC, 2.1 Mbit/s. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const SECONDS = 30;
export const SOURCE_BITS_PER_SECOND = 2_100_000;
const VIDEO = ['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '2000k', '-maxrate', '2000k', '-bufsize', '2000k'];
/**
 * The noise keeps the encoder at its rate. It also looks like cuts to the encoder, which sets a key frame every 0.4 to 0.7 s, not just
 * every 2 s as `-g` asks for. It stays so, since all figures were taken with it.
 */
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30,noise=alls=12:allf=t'];
const SOUND = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'];

/** Returns the file's path. */
export function makeSource(folder: string): string {
  const file = join(folder, 'source.flv');
  const coded = [...VIDEO, '-g', '60', '-bf', '0', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '100k'];
  execFileSync('ffmpeg', ['-v', 'error', ...PICTURE, ...SOUND, '-t', String(SECONDS), ...coded, '-f', 'flv', file]);
  return file;
}

/** Publishes to each of `urls` until it is disposed of. */
export function publish(file: string, urls: readonly string[]): AsyncDisposable {
  const children = urls.map((url): ChildProcess => {
    const input = ['-v', 'error', '-re', '-stream_loop', '-1', '-i', file];
    return spawn('ffmpeg', [...input, '-c', 'copy', '-f', 'flv', url], { stdio: ['ignore', 'ignore', 'inherit'] });
  });
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null) return;
          child.kill('SIGKILL');
          await once(child, 'exit');
        }),
      );
    },
  };
}
