/** Signing in: a passkey, or a password with perhaps a second factor, or an access token. */
import { useState } from 'react';
import type { CallOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { signInText } from '../../text/sign-in.ts';
import styles from './entry-page.module.css';
import { EntryPage, Or } from './entry-page.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { PasswordForm } from './password-form.tsx';
import { SecondStep } from './second-step.tsx';
import { TokenForm } from './token-form.tsx';
import { useEntering } from './use-entering.ts';
import { useProvider } from './use-provider.ts';

export interface SignInProps {
  /** `second`: the password was right, and a second factor is awaited. */
  readonly step: 'first' | 'second';
  /** There was a session. */
  readonly hasEnded: boolean;
}

export function SignIn({ step, hasEnded }: SignInProps) {
  const t = useText(signInText);
  return (
    <EntryPage title={step === 'first' ? t.title : t.secondTitle}>
      {step === 'first' ? <FirstStep hasEnded={hasEnded} /> : <SecondStep />}
    </EntryPage>
  );
}

export function FirstStep({ hasEnded = false }: { readonly hasEnded?: boolean }) {
  const t = useText(signInText);
  const { entryProblem } = useServices();
  const load = useRead('session.methods', {});
  const { begin, isUnkept } = useBegin();
  return (
    <>
      {hasEnded && <Notice tone="info">{t.ended}</Notice>}
      {isUnkept && <Notice tone="bad">{t.insecure}</Notice>}
      {entryProblem !== undefined && <Notice tone="bad">{entryProblem}</Notice>}
      <Loaded load={load} lines={4}>
        {({ people, provider }) =>
          people === '1' || provider !== '' ? (
            <>
              <PasskeySignIn onBegin={begin} />
              {provider !== '' && <ProviderSignIn host={provider} />}
              <Or>{t.orPassword}</Or>
              <PasswordForm onBegin={begin} />
              <details className={styles['more']}>
                <summary>{t.withToken}</summary>
                <TokenForm help={t.tokenHelp} onBegin={begin} />
              </details>
            </>
          ) : (
            <TokenForm help={t.tokenHelp} onBegin={begin} />
          )
        }
      </Loaded>
    </>
  );
}

/** Sends the proof of a sign-in. Throws what the service says against it. */
export type Begin = (proof: CallOf<'session.begin'>) => Promise<void>;

function useBegin() {
  const t = useText(signInText);
  const { toasts } = useServices();
  const change = useChange('session.begin');
  const enter = useEntering();
  const [isUnkept, setUnkept] = useState(false);
  const begin: Begin = async (proof) => {
    const { failed_before } = await change.mutateAsync(proof);
    if (failed_before > 0) toasts.show({ about: 'sign-in', title: t.failedBefore(failed_before), stayMs: 0 });
    setUnkept(!(await enter()));
  };
  return { begin, isUnkept };
}

function PasskeySignIn({ onBegin }: { readonly onBegin: Begin }) {
  const t = useText(signInText);
  const [isKept, setKept] = useState(false);
  return (
    <>
      <div className={styles['wide']}>
        <PasskeyButton
          kind="primary"
          title={t.passkey}
          onAnswer={(passkey) => onBegin({ passkey, ...(isKept && { keep: '1' }) })}
        />
      </div>
      <label className={styles['check']}>
        <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.target.checked)} />
        {t.keep}
      </label>
    </>
  );
}

function ProviderSignIn({ host }: { readonly host: string }) {
  const t = useText(signInText);
  const { isBusy, error, go } = useProvider('signIn');
  return (
    <div className={styles['wide']}>
      <Button icon="external" isBusy={isBusy} onClick={go}>
        {t.withProvider(host)}
      </Button>
      {error && <Notice tone="bad">{problemOf(error).text}</Notice>}
    </div>
  );
}
