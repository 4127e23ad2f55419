/** Values of the form of a connector, and what is sent of them. Pure. */
import type { DataOf } from '#contract/operations.ts';
import { FIELDS_OF_KINDS } from '#contract/sms/sms-connector-fields.ts';

type Connector = DataOf<'smsOperator.listConnectors'>['list'][number];
export type Values = Readonly<Record<string, unknown>>;

/** The fields of a new connector at first; those that are left empty have the service's default. */
const NEW: Values = { name: '', kind: 'smpp', tls: '0' };

/** Whether a connector of the chosen kind has the field. */
export function hasField({ kind }: Values, name: string): boolean {
  // `as`: the form offers no other.
  const own: readonly string[] = FIELDS_OF_KINDS[kind as Connector['kind']];
  return own.includes(name);
}

/** What the fields have at first. Numbers are texts, as they are typed. */
export function connectorValues(stored: Connector | undefined): Values {
  if (stored === undefined) return NEW;
  const { revision: _, ...settings } = stored;
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}

/** The name, and what differs from what is stored: an empty password keeps the stored one. */
export function changedSettings(stored: Connector | undefined, values: Values): Values {
  const before = connectorValues(stored);
  const differs = ([name, value]: [string, unknown]) =>
    stored === undefined ? value !== '' : JSON.stringify(value) !== JSON.stringify(before[name]);
  const changed = Object.entries(values).filter(([name, value]) => hasField(values, name) && differs([name, value]));
  return {
    name: values['name'],
    ...Object.fromEntries(changed.filter(([name, value]) => name !== 'password' || value)),
  };
}
