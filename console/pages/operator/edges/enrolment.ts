/** What is run on a machine that becomes an edge. Pure. docs/decisions/0699 */
import type { DataOf } from '#contract/operations.ts';

type Settings = DataOf<'operator.getSettings'>['list'];

const ANY_ADDRESS = ['', '0.0.0.0', '[::]'];

/**
 * Address of control's listener for edges; `undefined`: it has none. Where the listener has any address of the machine,
 * the name by which this browser reaches control is taken.
 */
export function controlAddress(settings: Settings, host: string): string | undefined {
  const [announced = ''] = settingOf(settings, 'fleet-address').split(',');
  if (announced.trim() !== '') return announced.trim();
  const [, listened = '', port] = /^(.*):(\d+)$/.exec(settingOf(settings, 'fleet-listen')) ?? [];
  if (port === undefined) return undefined;
  return `https://${ANY_ADDRESS.includes(listened) ? host : listened}:${port}`;
}

/** Whether edges have certificates of the operator's own authority, and need no token. */
export function hasOwnAuthority(settings: Settings): boolean {
  return settingOf(settings, 'fleet-ca') !== '';
}

function settingOf(settings: Settings, name: string): string {
  return settings.find((setting) => setting.name === name)?.value ?? '';
}

export function enrolCommands(control: string): string {
  return `causeway edge enrol --control ${control} --token-file token\ncauseway serve --roles edge`;
}
