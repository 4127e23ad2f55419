/** Some of the account's address lists, for a domain to deny or to allow. */
import { Choices } from '../../components/choices.tsx';
import type { ControlIds } from '../../components/field.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { TagList } from '../../components/tag-list.tsx';
import { formatNumber } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { addressListsText } from '../../text/address-lists.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';

interface AddressListChoicesProps {
  readonly ids: ControlIds;
  /** Names. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

export function AddressListChoices({ ids, chosen, onChange }: AddressListChoicesProps) {
  const t = useText(addressListsText);
  const common = useText(commonText);
  const locale = usePreference('locale');
  const load = useRead('addressList.list', {});
  // A token that is limited to some domains may use the lists, and not read them.
  if (load.kind === 'failed') return <TagList {...{ ids, onChange }} entries={chosen} />;
  return (
    <Loaded
      load={load}
      lines={1}
      isEmpty={({ list }) => list.length === 0}
      empty={<p className="help">{t.emptyTitle}</p>}
    >
      {({ list }) => (
        <Choices
          {...{ ids, chosen, onChange }}
          choices={list.map(({ name, addresses }) => ({
            value: name,
            label: `${name}${common.aside(formatNumber(addresses, locale))}`,
          }))}
        />
      )}
    </Loaded>
  );
}
