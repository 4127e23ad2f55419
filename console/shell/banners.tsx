/** What is true of the whole console at the moment, above every page. */
import { Button } from '../components/button.tsx';
import { Notice } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { useStore } from '../lib/store.ts';
import { useChange } from '../queries.ts';
import { type Session, useServices, useSession } from '../services.tsx';
import { lacksSecondFactor } from '../session-state.ts';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import styles from './banners.module.css';

export function Banners() {
  const t = useText(shellText);
  const isOnline = useStore(useServices().caller.isOnline);
  const session = useSession();
  const { look } = session;
  if (isOnline && look === null && !lacksSecondFactor(session)) return null;
  return (
    <div className={styles['banners']}>
      {look !== null && <LookBanner look={look} />}
      {lacksSecondFactor(session) && <Notice tone="warn">{t.lacksSecondFactor}</Notice>}
      {!isOnline && <Notice tone="warn">{t.offline}</Notice>}
    </div>
  );
}

/** An operator looks at a customer's account until the person chooses an own one. */
function LookBanner({ look }: { readonly look: NonNullable<Session['look']> }) {
  const t = useText(shellText);
  const [own] = useSession().accounts;
  const use = useChange('session.use');
  return (
    <Notice tone="warn">
      {t.looking(look.account_name, look.reason)} {t.lookUntil} <Time at={look.until} isClock />{' '}
      {own && (
        <Button isBusy={use.isPending} onClick={() => use.mutate({ account_id: own.account_id })}>
          {t.endLook}
        </Button>
      )}
    </Notice>
  );
}
