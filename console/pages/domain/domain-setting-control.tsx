/** The control of a domain's setting: certificates and address lists are chosen among those of the account. */
import { SettingControl, type SettingControlProps } from '../../forms/setting-control.tsx';
import { entriesOf } from '../../forms/setting-value.ts';
import { AddressListChoices } from './address-list-choices.tsx';
import { CertificateSelect } from './certificate-select.tsx';
import { isAddressLists, isCertificate, type Setting } from './settings-draft.ts';

interface DomainSettingControlProps extends Pick<SettingControlProps, 'ids' | 'value' | 'onChange'> {
  readonly setting: Setting;
}

export function DomainSettingControl({ setting, ids, value, onChange }: DomainSettingControlProps) {
  const { field, text } = setting;
  if (isCertificate(setting)) return <CertificateSelect {...{ ids, onChange }} value={String(value ?? '')} />;
  if (isAddressLists(setting))
    return (
      <AddressListChoices {...{ ids }} chosen={entriesOf(value, field)} onChange={(chosen) => onChange([...chosen])} />
    );
  return <SettingControl {...{ ids, field, text, value, onChange }} />;
}
