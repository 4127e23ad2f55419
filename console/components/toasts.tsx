/** Short news at the lower left, above the bars: one toast an object, replaced by the next about the same. */
import { Toast } from '@base-ui/react/toast';
import styles from './toasts.module.css';

export interface News {
  /** The object that it is about. */
  readonly about: string;
  readonly title: string;
  readonly text?: string | undefined;
  readonly action?: { readonly title: string; readonly onChoose: () => void } | undefined;
  /** Stays so long; 0: until it is closed. */
  readonly stayMs?: number;
}

export type Toasts = ReturnType<typeof createToasts>;

export function createToasts() {
  const manager = Toast.createToastManager();
  return {
    manager,
    show: ({ about, title, text, action, stayMs = 8000 }: News) => {
      manager.add({
        id: about,
        title,
        description: text,
        timeout: stayMs,
        actionProps: action && { children: action.title, onClick: action.onChoose },
      });
    },
    close: (about: string) => manager.close(about),
  };
}

export function ToastViewport({ toasts, closeLabel }: { readonly toasts: Toasts; readonly closeLabel: string }) {
  return (
    <Toast.Provider toastManager={toasts.manager}>
      <Toast.Viewport className={styles['viewport']}>
        <ToastList closeLabel={closeLabel} />
      </Toast.Viewport>
    </Toast.Provider>
  );
}

function ToastList({ closeLabel }: { readonly closeLabel: string }) {
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
