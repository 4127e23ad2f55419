/** What the list of messages is narrowed to. It is in the address, and follows the typing when that pauses. */
import { SearchInput } from '../../components/input.tsx';
import { Select } from '../../components/select.tsx';
import { useTyped } from '../../lib/use-typed.ts';
import { MESSAGE_PERIODS, MESSAGE_STATUSES, type MessagesQuery } from '../../routes/messaging.ts';
import { useText } from '../../text/catalogue.ts';
import { messagesText } from '../../text/messages.ts';
import { ServiceSelect } from './service-select.tsx';

interface MessagesFilterProps {
  readonly query: MessagesQuery;
  readonly onChange: (query: MessagesQuery) => void;
}

export function MessagesFilter({ query, onChange }: MessagesFilterProps) {
  const t = useText(messagesText);
  const typed = useTyped(query.number, (number) => onChange({ ...query, number }));
  return (
    <search className="row">
      <SearchInput label={t.filter} inputMode="tel" {...typed} />
      <Select
        label={t.state}
        choices={MESSAGE_STATUSES.map((value) => ({ value, label: t.statuses[value] }))}
        value={query.status}
        onChange={(status) => onChange({ ...query, status })}
      />
      <ServiceSelect value={query.app} onChange={(app) => onChange({ ...query, app })} />
      <Select
        label={t.period}
        choices={MESSAGE_PERIODS.map((value) => ({ value, label: t.periods[value] }))}
        value={query.period}
        onChange={(period) => onChange({ ...query, period })}
      />
    </search>
  );
}
