/** One of the account's SMS services, or all of them, in a toolbar. */
import { Select } from '../../components/select.tsx';
import { useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { messagesText } from '../../text/messages.ts';

/** An account has few; more of them are found by their key in the address. */
export const SERVICES = { page_size: 100 } as const;

interface ServiceSelectProps {
  /** Key of the service; empty: all. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function ServiceSelect({ value, onChange }: ServiceSelectProps) {
  const t = useText(messagesText);
  const load = useRead('sms.listApps', SERVICES);
  const services = load.kind === 'ready' ? load.data.list : [];
  const known = services.map(({ app_key, name }) => ({ value: app_key, label: name }));
  const unknown = value === '' || services.some(({ app_key }) => app_key === value) ? [] : [{ value, label: value }];
  return (
    <Select
      label={t.service}
      choices={[{ value: '', label: t.allServices }, ...known, ...unknown]}
      value={value}
      onChange={onChange}
    />
  );
}
