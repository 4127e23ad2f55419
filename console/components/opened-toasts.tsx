/** The toasts from the first one on. */
import { Toast } from '@base-ui/react/toast';
import { useEffect } from 'react';
import styles from './toasts.module.css';
import type { ToastViewportProps } from './toasts.tsx';

export function OpenedToasts({ toasts, closeLabel }: ToastViewportProps) {
  useEffect(() => toasts.onShown(), [toasts]);
  return (
    <Toast.Provider toastManager={toasts.manager}>
      <Toast.Viewport className={styles['viewport']}>
        <ToastList closeLabel={closeLabel} />
      </Toast.Viewport>
    </Toast.Provider>
  );
}

function ToastList({ closeLabel }: Pick<ToastViewportProps, 'closeLabel'>) {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles['toast']} swipeDirection={['down', 'left']}>
      <Toast.Content className={styles['content']}>
        <div className={styles['words']}>
          <Toast.Title className={styles['title']} render={<p />} />
          <Toast.Description className="help" />
        </div>
        <Toast.Action className={styles['action']} />
        <Toast.Close className={styles['close']} aria-label={closeLabel}>
          ×
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
