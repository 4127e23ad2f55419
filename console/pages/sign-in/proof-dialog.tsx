/** Asks who is signed in for a proof, when a call waits for one. docs/decisions/0695 */
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useChange, useRead } from '../../queries.ts';
import { useServices, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { signInText } from '../../text/sign-in.ts';
import { ProofForm, type ProofWay } from './proof-form.tsx';
import { TokenForm } from './token-form.tsx';

export function ProofDialog() {
  const t = useText(signInText);
  const { proofs } = useServices();
  const { person } = useSession();
  return (
    <Dialog title={t.proveTitle} isOpen isAbove onClose={() => proofs.settle(false)}>
      <p className="help">{t.proveHelp}</p>
      {person === null ? <ByToken /> : <ByPerson />}
    </Dialog>
  );
}

/** A new session of a token has the proof. */
function ByToken() {
  const t = useText(signInText);
  const { proofs } = useServices();
  const begin = useChange('session.begin');
  return (
    <TokenForm
      help={t.tokenAgainHelp}
      onBegin={async (proof) => {
        await begin.mutateAsync(proof);
        proofs.settle(true);
      }}
    />
  );
}

function ByPerson() {
  const t = useText(signInText);
  const common = useText(commonText);
  const { proofs } = useServices();
  const load = useRead('person.get', {});
  return (
    <Loaded load={load} lines={2}>
      {(person) => {
        const ways = waysOf(person);
        if (ways.length === 0) return <p>{t.proveNothing}</p>;
        return (
          <ProofForm
            ways={ways}
            onProven={async () => proofs.settle(true)}
            actions={<Button onClick={() => proofs.settle(false)}>{common.cancel}</Button>}
          />
        );
      }}
    </Loaded>
  );
}

/** Where there is a second factor, the password proves nothing more. */
function waysOf({ passkeys, totp_at, password_at }: DataOf<'person.get'>): readonly ProofWay[] {
  const ways: readonly ProofWay[] = [
    ...(passkeys > 0 ? (['passkey'] as const) : []),
    ...(totp_at > 0 ? (['code'] as const) : []),
  ];
  return ways.length === 0 && password_at > 0 ? ['password'] : ways;
}
