/** Search among pages, actions and domains: whatever can be opened, by its name. */
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useState } from 'react';
import { useLocation } from 'wouter';
import dialogStyles from '../components/dialog.module.css';
import floatingStyles from '../components/floating.module.css';
import { Icon } from '../components/icon.tsx';
import type { IconName } from '../components/icons.ts';
import { useDelayed } from '../lib/use-delayed.ts';
import { menuOf } from '../pages.tsx';
import { useReadQuery } from '../queries.ts';
import { domainPath } from '../routes/domains.ts';
import { ADD_DOMAIN_PATH, PATHS } from '../routes.ts';
import { usePreference, useSession, useTheme } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import { usePrefer } from './own-preferences.ts';
import styles from './palette.module.css';

interface Item {
  readonly label: string;
  readonly icon: IconName;
  readonly onChoose: () => void;
}

interface Group {
  readonly value: string;
  readonly items: readonly Item[];
}

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const t = useText(shellText);
  const [typed, setTyped] = useState('');
  const groups = [...useFixed(onClose, typed), ...useDomains(onClose, typed)].filter(({ items }) => items.length > 0);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={dialogStyles['backdrop']} />
        <Dialog.Popup className={dialogStyles['dialog']} aria-label={t.palette.title}>
          <Autocomplete.Root
            inline
            open
            mode="none"
            autoHighlight="always"
            keepHighlight
            items={groups}
            value={typed}
            onValueChange={(value) => setTyped(value)}
            itemToStringValue={(item: Item) => item.label}
          >
            <Autocomplete.Input className={styles['input']} placeholder={t.search} aria-label={t.palette.title} />
            <Autocomplete.Empty>
              <p className={styles['empty']}>{t.palette.nothing}</p>
            </Autocomplete.Empty>
            <Autocomplete.List className={styles['list']}>
              {(group: Group) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className={floatingStyles['heading']}>{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: Item) => (
                      <Autocomplete.Item
                        key={item.label}
                        value={item}
                        className={floatingStyles['item']}
                        onClick={item.onChoose}
                      >
                        <Icon name={item.icon} />
                        {item.label}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Pages and actions, which are known without asking. */
function useFixed(onClose: () => void, typed: string): Group[] {
  const t = useText(shellText);
  const [, navigate] = useLocation();
  const session = useSession();
  const choose = usePrefer();
  const theme = useTheme();
  const locale = usePreference('locale');
  const go = (path: string) => () => {
    onClose();
    navigate(path);
  };
  const prefer = (chosen: Parameters<typeof choose>[0]) => () => {
    onClose();
    choose(chosen);
  };
  const pages = menuOf(session).map(({ page, icon }) => ({ label: t.pages[page], icon, onChoose: go(PATHS[page]) }));
  const actions: Item[] = [
    ...(session.scopes.includes('cdn')
      ? [{ label: t.palette.addDomain, icon: 'plus', onChoose: go(ADD_DOMAIN_PATH) } as const]
      : []),
    { label: t.palette.switchTheme, icon: 'theme', onChoose: prefer({ theme: theme === 'dark' ? 'light' : 'dark' }) },
    {
      label: t.palette.switchLanguage,
      icon: 'language',
      onChoose: prefer({ locale: locale === 'en' ? 'zh-CN' : 'en' }),
    },
  ];
  const matching = (items: readonly Item[]) => items.filter(({ label }) => isMatch(label, typed));
  return [
    { value: t.palette.pages, items: matching(pages) },
    { value: t.palette.actions, items: matching(actions) },
  ];
}

/** Domains are searched by the service. */
function useDomains(onClose: () => void, typed: string): Group[] {
  const t = useText(shellText);
  const [, navigate] = useLocation();
  const name = useDelayed(typed.trim());
  const isEnabled = useSession().scopes.includes('cdn') && name !== '';
  const { data } = useReadQuery('domain.list', { name, page_size: 8 }, { isEnabled, keepsPrevious: true });
  const items = (isEnabled ? (data?.list ?? []) : []).map(({ domain_id, domain_name }) => ({
    label: domain_name,
    icon: 'domains' as const,
    onChoose: () => {
      onClose();
      navigate(domainPath(domain_id));
    },
  }));
  return [{ value: t.palette.domains, items }];
}

function isMatch(label: string, typed: string): boolean {
  return label.toLowerCase().includes(typed.trim().toLowerCase());
}
