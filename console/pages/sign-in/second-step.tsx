/** The second factor of a sign-in whose password was right. */
import { Button } from '../../components/button.tsx';
import { useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { signInText } from '../../text/sign-in.ts';
import { ProofForm } from './proof-form.tsx';
import { useEntering } from './use-entering.ts';

export function SecondStep() {
  const t = useText(signInText);
  const end = useChange('session.end');
  const enter = useEntering();
  return (
    <>
      <p className="help">{t.secondHelp}</p>
      <ProofForm
        ways={['code', 'passkey']}
        onProven={enter}
        actions={
          <Button kind="plain" isBusy={end.isPending} onClick={() => end.mutate({})}>
            {t.startAgain}
          </Button>
        }
      />
    </>
  );
}
