/** The bandwidth of a month in words for people. */
import { Option } from 'commander';
import type { DataOf } from '#contract/operations.ts';
import type { CliContext } from './context.ts';
import { type Options, textOption } from './options.ts';
import { formatPairs } from './output.ts';
import { timeTexts } from './times.ts';

export function monthOption(): Option {
  return new Option('--month <month>', 'month such as 2026-01 (default: this one)');
}

export function monthAsked(options: Options): { readonly month?: string } {
  const month = textOption(options, 'month');
  return month === undefined ? {} : { month };
}

export function bandwidthLines(
  context: CliContext,
  options: Options,
  data: DataOf<'stat.bandwidth'>,
): readonly string[] {
  const { ofSeconds } = timeTexts(context, options);
  return formatPairs([
    ['month', data.complete === '1' ? data.month : `${data.month} (not over yet)`],
    ['95th percentile', mbps(data.bits_per_second)],
    ['peak', mbps(data.peak_bits_per_second)],
    ['peak at', ofSeconds(data.peak_at / 1000)],
    ['mean', mbps(data.mean_bits_per_second)],
    ['bytes', String(data.bytes_out)],
    ['samples', `${data.samples}, of which the highest ${data.dropped} do not count`],
  ]);
}

function mbps(bitsPerSecond: number): string {
  return `${(bitsPerSecond / 1e6).toFixed(3)} Mbit/s`;
}
