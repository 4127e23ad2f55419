/** Reads on, below a list. */

import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { Button } from './button.tsx';
import styles from './more-button.module.css';

export function MoreButton({ isBusy, onMore }: { readonly isBusy: boolean; readonly onMore: () => void }) {
  const t = useText(commonText);
  return (
    <div className={styles['more']}>
      <Button isBusy={isBusy} onClick={onMore}>
        {t.showMore}
      </Button>
    </div>
  );
}
