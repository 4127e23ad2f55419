/** What is run on a machine that becomes an edge. Pure. docs/decisions/0699 */
import type { DataOf } from '#contract/operations.ts';

type Settings = DataOf<'operator.getSettings'>['list'];

const ANY_ADDRESS = ['', '0.0.0.0', '[::]'];

/**
 * Address of control's listener for edges; `undefined`: it has none. Where the listener has any address of the machine,
 * the name by which this browser reaches control is taken.
 */
export function controlAddress(settings: Settings, host: string): string | undefined {
  const settingOf = (name: string) => settings.find((setting) => setting.name === name)?.value ?? '';
  const [announced = ''] = settingOf('fleet-address').split(',');
  if (announced.trim() !== '') return announced.trim();
  const [, listened = '', port] = /^(.*):(\d+)$/.exec(settingOf('fleet-listen')) ?? [];
  if (port === undefined) return undefined;
  return `https://${ANY_ADDRESS.includes(listened) ? host : listened}:${port}`;
}

export function enrolCommands(control: string): string {
  return `causeway edge enrol --control ${control} --token-file token\ncauseway serve --roles edge`;
}
