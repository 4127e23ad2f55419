/** Streams that ffmpeg encodes, and what ffprobe finds in bytes of ours. Declare with `needs('ffmpeg', 'ffprobe')`. */
import { spawn } from 'node:child_process';
import { buffer, text } from 'node:stream/consumers';
import { obtain } from '../runner/needs.ts';

export interface Encoding {
  readonly seconds: number;
  /** Arguments of the video encoder; `undefined`: no video. */
  readonly video?: readonly string[];
  /** Arguments of the audio encoder. */
  readonly audio?: readonly string[];
  /** Picture size as `WxH`. */
  readonly size?: string;
  readonly frameRate?: number;
  readonly sampleRate?: number;
}

/** Encodes a moving test picture and a tone. MP4 is fragmented, because it is written to a pipe. */
export async function encode(format: 'flv' | 'mp4', encoding: Encoding): Promise<Buffer> {
  const { seconds, video, audio, size = '160x96', frameRate = 30, sampleRate = 44_100 } = encoding;
  const inputs = [
    ...(video === undefined ? [] : [`testsrc2=size=${size}:rate=${frameRate}`]),
    ...(audio === undefined ? [] : [`sine=frequency=440:sample_rate=${sampleRate}`]),
  ];
  const flags = format === 'mp4' ? ['-movflags', 'empty_moov+default_base_moof+frag_keyframe', '-strict', '-2'] : [];
  const args = [
    ...['-v', 'error', '-nostdin'],
    ...inputs.flatMap((input) => ['-f', 'lavfi', '-i', input]),
    ...['-t', `${seconds}`, '-threads', '2'],
    ...(video === undefined ? [] : ['-pix_fmt', 'yuv420p', '-c:v', ...video]),
    ...(audio === undefined ? [] : ['-c:a', ...audio]),
    ...[...flags, '-f', format, 'pipe:1'],
  ];
  return (await run(obtain('ffmpeg'), args)).stdout;
}

export interface Packet {
  readonly kind: 'video' | 'audio';
  /** Presentation time in seconds. */
  readonly pts: number;
  readonly dts: number;
}

export interface Probed {
  readonly streams: readonly { readonly codec_name: string; readonly width?: number; readonly sample_rate?: string }[];
  readonly packets: readonly Packet[];
  /** What ffprobe complained of. */
  readonly complaints: string;
}

/** What ffprobe reads in a file. */
export async function probe(file: Buffer): Promise<Probed> {
  const args = ['-v', 'warning', '-show_packets', '-show_streams', '-of', 'json', '-i', 'pipe:0'];
  const { stdout, stderr } = await run(obtain('ffprobe'), args, file);
  const found = JSON.parse(stdout.toString()) as {
    streams: Probed['streams'];
    packets: {
      codec_type: 'video' | 'audio';
      pts_time: string;
      dts_time: string;
      duration_time: string;
      flags: string;
    }[];
  };
  const packets = found.packets.map((packet) => ({
    kind: packet.codec_type,
    pts: Number(packet.pts_time),
    dts: Number(packet.dts_time),
  }));
  return { streams: found.streams, packets, complaints: stderr };
}

/** Decodes every frame; returns what the decoders complained of. */
export async function decode(file: Buffer): Promise<string> {
  const args = ['-v', 'warning', '-nostdin', '-xerror', '-i', 'pipe:0', '-f', 'null', '-'];
  return (await run(obtain('ffmpeg'), args, file)).stderr;
}

async function run(
  program: string,
  args: readonly string[],
  input?: Buffer,
): Promise<{ stdout: Buffer; stderr: string }> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  // A program that has read enough closes its input early.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([buffer(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${stderr}`);
  return { stdout, stderr };
}
