/** What somebody proves beside the cookie: a code, a recovery code, a passkey, or the password. */
import { type ReactNode, useState } from 'react';
import type { CallOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { useSending } from '../../forms/use-sending.ts';
import { useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { signInText } from '../../text/sign-in.ts';
import { PasskeyButton } from './passkey-button.tsx';

export type ProofWay = 'code' | 'passkey' | 'password';

interface ProofFormProps {
  /** The ways that the person has. */
  readonly ways: readonly ProofWay[];
  readonly onProven: () => Promise<unknown>;
  /** Buttons beside the one that sends. */
  readonly actions?: ReactNode;
}

type Proof = CallOf<'session.second'>;
type Typed = 'code' | 'recovery_code' | 'password';

export function ProofForm({ ways, onProven, actions }: ProofFormProps) {
  const t = useText(signInText);
  const second = useChange('session.second');
  const [isRecovery, setRecovery] = useState(false);
  const [typed, setTyped] = useState('');
  const prove = async (proof: Proof) => {
    await second.mutateAsync(proof);
    await onProven();
  };
  const way: Typed = ways.includes('password') ? 'password' : isRecovery ? 'recovery_code' : 'code';
  const { isBusy, problem, onSubmit } = useSending(() => prove(proofOf(way, typed)));
  const isTyping = ways.some((one) => one !== 'passkey');
  return (
    <>
      {ways.includes('passkey') && (
        <PasskeyButton
          kind={isTyping ? 'normal' : 'primary'}
          title={t.usePasskey}
          onAnswer={(passkey) => prove({ passkey })}
        />
      )}
      {isTyping ? (
        <Form
          onSubmit={onSubmit}
          problem={problem}
          actions={
            <>
              <Button kind="primary" type="submit" isBusy={isBusy}>
                {t.confirm}
              </Button>
              {way !== 'password' && (
                <Button
                  kind="plain"
                  onClick={() => {
                    setTyped('');
                    setRecovery(!isRecovery);
                  }}
                >
                  {isRecovery ? t.toCode : t.toRecovery}
                </Button>
              )}
              {actions}
            </>
          }
        >
          <TypedField way={way} value={typed} onChange={setTyped} />
        </Form>
      ) : (
        <div className="row">{actions}</div>
      )}
    </>
  );
}

function proofOf(way: Typed, typed: string): Proof {
  if (way === 'password') return { password: typed };
  return way === 'code' ? { code: typed.trim() } : { recovery_code: typed.trim() };
}

interface TypedFieldProps {
  readonly way: Typed;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const INPUTS = {
  code: { inputMode: 'numeric', autoComplete: 'one-time-code', isMono: true },
  recovery_code: { autoComplete: 'off', isMono: true },
  password: { type: 'password', autoComplete: 'current-password' },
} as const;

function TypedField({ way, value, onChange }: TypedFieldProps) {
  const t = useText(signInText);
  const words = {
    code: { label: t.code, help: t.codeHelp },
    recovery_code: { label: t.recoveryCode, help: t.recoveryHelp },
    password: { label: t.password },
  }[way];
  return (
    <Field {...words}>
      {(ids) => (
        <TextInput
          key={way}
          ref={focus}
          ids={ids}
          {...INPUTS[way]}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Nothing else is to be done here, so the field has the focus. */
function focus(input: HTMLInputElement | null): void {
  input?.focus();
}
