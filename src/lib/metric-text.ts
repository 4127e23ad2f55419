/** Reads metrics in the text format of Prometheus, as far as they are our own. Pure. */

export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples whose name `isWanted`. Lines that cannot be read are left out. */
export function readMetricText(text: string, isWanted: (name: string) => boolean): readonly MetricSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === '' || !isWanted(name)) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', escaped = '']) => [label, unescaped(escaped)]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
}
