/** Short news at the lower left, above the bars: one toast an object, replaced by the next about the same. */
import { Toast } from '@base-ui/react/toast';
import { lazily } from '../lib/lazily.ts';
import { createStore, useStore } from '../lib/store.ts';
import { Later } from './later.tsx';

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
  const isWanted = createStore(false);
  // The manager forgets what is added before something shows it.
  const { promise: isShown, resolve: onShown } = Promise.withResolvers<void>();
  return {
    manager,
    isWanted,
    onShown,
    show: ({ about, title, text, action, stayMs = 8000 }: News) => {
      isWanted.set(true);
      void isShown.then(() =>
        manager.add({
          id: about,
          title,
          description: text,
          timeout: stayMs,
          actionProps: action && { children: action.title, onClick: action.onChoose },
        }),
      );
    },
    close: (about: string) => void isShown.then(() => manager.close(about)),
  };
}

export interface ToastViewportProps {
  readonly toasts: Toasts;
  readonly closeLabel: string;
}

const OpenedToasts = lazily(async () => (await import('./opened-toasts.tsx')).OpenedToasts);

/** Shows toasts; the code for that is loaded with the first one. */
export function ToastViewport(props: ToastViewportProps) {
  const isWanted = useStore(props.toasts.isWanted);
  return <Later as="floating">{isWanted && <OpenedToasts {...props} />}</Later>;
}
