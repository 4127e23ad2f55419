/** Asks for a passkey, or says why this browser cannot be asked here. */
import type { ReactNode } from 'react';
import type { CallOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { useSending } from '../../forms/use-sending.ts';
import { askForPasskey, hasPasskeys } from '../../lib/passkey.ts';
import { isPasskeyPlace, passkeyProblemOf } from '../../lib/passkey-rules.ts';
import { problemOf, useAsk, useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { signInText } from '../../text/sign-in.ts';

interface PasskeyButtonProps {
  readonly title: string;
  readonly kind?: 'primary' | 'normal';
  /** Sends what the passkey answered to the service. */
  readonly onAnswer: (passkey: PasskeyAnswer) => Promise<unknown>;
}

type PasskeyAnswer = NonNullable<CallOf<'session.begin'>['passkey']>;

export function PasskeyButton({ title, kind = 'normal', onAnswer }: PasskeyButtonProps) {
  const challenge = useAsk('session.passkeyChallenge');
  const { isBusy, error, run } = useSending(async () => {
    const { options } = await challenge.mutateAsync({});
    // `as`: the service checks what the browser has made.
    await onAnswer((await askForPasskey(options)) as PasskeyAnswer);
  });
  return (
    <WherePasskeysWork>
      <Button kind={kind} icon="tokens" isBusy={isBusy} onClick={() => void run()}>
        {title}
      </Button>
      {error !== undefined && <PasskeyNotice error={error} />}
    </WherePasskeysWork>
  );
}

/** Says instead why there are no passkeys in this browser, or at this address. */
export function WherePasskeysWork({ children }: { readonly children: ReactNode }) {
  const t = useText(signInText);
  const load = useRead('session.methods', {});
  if (!hasPasskeys()) return <p className="help">{t.noPasskeys}</p>;
  return (
    <Loaded load={load} lines={1}>
      {({ console_url }) =>
        isPasskeyPlace(location.origin, console_url) ? (
          children
        ) : (
          <p className="help">
            {t.passkeyPlace} <a href={console_url}>{console_url}</a>
          </p>
        )
      }
    </Loaded>
  );
}

/** What a person stopped is no fault. */
export function PasskeyNotice({ error }: { readonly error: unknown }) {
  const t = useText(signInText);
  const problem = passkeyProblemOf(error);
  if (problem === undefined) return <Notice tone="bad">{problemOf(error).text}</Notice>;
  return <Notice tone={problem === 'stopped' ? 'info' : 'bad'}>{t.passkeyProblems[problem]}</Notice>;
}
