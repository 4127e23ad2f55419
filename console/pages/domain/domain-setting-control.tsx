/** The control of a domain's setting: certificates and address lists are chosen among those of the account. */
import { Later } from '../../components/later.tsx';
import { SettingControl, type SettingControlProps } from '../../forms/setting-control.tsx';
import { entriesOf } from '../../forms/setting-value.ts';
import { lazily } from '../../lib/lazily.ts';
import { CertificateSelect } from './certificate-select.tsx';
import { isAddressLists, isCertificate, type Setting } from './settings-draft.ts';

const AddressListChoices = lazily(async () => (await import('./address-list-choices.tsx')).AddressListChoices);

interface DomainSettingControlProps extends Pick<SettingControlProps, 'ids' | 'value' | 'onChange'> {
  readonly setting: Setting;
}

export function DomainSettingControl({ setting, ids, value, onChange }: DomainSettingControlProps) {
  const { field, text } = setting;
  if (isCertificate(setting)) return <CertificateSelect {...{ ids, onChange }} value={String(value ?? '')} />;
  if (isAddressLists(setting))
    return (
      <Later as="part">
        <AddressListChoices ids={ids} chosen={entriesOf(value, field)} onChange={(chosen) => onChange([...chosen])} />
      </Later>
    );
  return <SettingControl {...{ ids, field, text, value, onChange }} />;
}
