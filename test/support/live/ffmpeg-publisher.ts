/** ffmpeg as an encoder that publishes, and ffprobe as a player. Both have to be declared: needs('ffmpeg', 'ffprobe'). */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { obtain } from '../runner/needs.ts';

export interface FfmpegOptions {
  /** Codecs and their options; H.264 and AAC when absent. */
  readonly codecs?: readonly string[];
  readonly seconds?: number;
  /** True: as fast as it encodes, instead of as fast as it plays. */
  readonly isUnpaced?: boolean;
  /** What is published; a test picture and a tone when absent. */
  readonly inputs?: readonly string[];
  /** The container; `flv` when absent. */
  readonly format?: string;
}

const H264_AND_AAC = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '30', '-bf', '0', '-c:a', 'aac'];
const PICTURE_AND_TONE = [
  ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=30'],
  ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100'],
];

/** An ffmpeg that publishes to a URL; ended with the scope that it is used in. */
export class Ffmpeg implements AsyncDisposable {
  readonly process: ChildProcess;
  /** What it says, for a test that fails. */
  log = '';
  readonly #exit: Promise<unknown>;

  constructor(url: string, options: FfmpegOptions = {}) {
    const { codecs = H264_AND_AAC, inputs = PICTURE_AND_TONE, seconds = 3, format = 'flv' } = options;
    const pace = options.isUnpaced === true ? [] : ['-re'];
    const args = [...pace, ...inputs, '-t', String(seconds), ...codecs, '-f', format, url];
    this.process = spawn(obtain('ffmpeg'), ['-hide_banner', '-nostdin', '-loglevel', 'warning', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.log += text;
    });
    this.#exit = once(this.process, 'exit');
  }

  /** Gives its exit code; `null`: a signal ended it. */
  async ended(): Promise<number | null> {
    await this.#exit;
    return this.process.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL');
    await this.#exit;
  }
}

/** What ffprobe reads from a URL or file until its end: `codec,packets` of each stream. */
export async function probeUrl(url: string): Promise<string[]> {
  const entries = ['-count_packets', '-show_entries', 'stream=codec_name,nb_read_packets'];
  const { stdout } = await promisify(execFile)(
    obtain('ffprobe'),
    ['-hide_banner', '-loglevel', 'error', ...entries, '-of', 'csv=print_section=0', url],
    { timeout: 60_000 },
  );
  return stdout.trim().split('\n');
}
