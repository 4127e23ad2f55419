/** Somebody who has an account: signs in, since the link alone proves nothing, and accepts. */
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { useEntryStep } from '../../entry-step.ts';
import { Form } from '../../forms/form.tsx';
import { useSending } from '../../forms/use-sending.ts';
import { loadOf, useChange, useReadQuery } from '../../queries.ts';
import { type Session, useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { welcomeText } from '../../text/welcome.ts';
import { SecondStep } from '../sign-in/second-step.tsx';
import { FirstStep } from '../sign-in/sign-in.tsx';
import { useAccept } from './use-accept.ts';
import type { LinkProps } from './welcome.tsx';

export function JoinAsKnown({ secret, link: { email } }: LinkProps) {
  const t = useText(welcomeText);
  const { caller } = useServices();
  const query = useReadQuery('session.get', {}, { keepsPrevious: true });
  const step = useEntryStep(query);
  if (step !== undefined)
    return (
      <>
        <Notice tone="info">{t.signInFirst(email)}</Notice>
        {step === 'first' ? <FirstStep /> : <SecondStep />}
      </>
    );
  return (
    <Loaded load={loadOf(query, caller.resume)} lines={2}>
      {(session) =>
        session.person?.email === email ? <Accept secret={secret} /> : <AsAnother session={session} email={email} />
      }
    </Loaded>
  );
}

function Accept({ secret }: { readonly secret: string }) {
  const t = useText(welcomeText);
  const accept = useAccept();
  const { isBusy, problem, onSubmit } = useSending(() => accept({ secret }));
  return (
    <Form
      onSubmit={onSubmit}
      problem={problem}
      actions={
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {t.accept}
        </Button>
      }
    >
      {null}
    </Form>
  );
}

function AsAnother({ session: { person, token }, email }: { readonly session: Session; readonly email: string }) {
  const t = useText(welcomeText);
  const end = useChange('session.end');
  return (
    <>
      <Notice tone="warn">{t.isAnother(person?.email ?? token?.label ?? '', email)}</Notice>
      <div className="row">
        <Button isBusy={end.isPending} onClick={() => end.mutate({})}>
          {t.signOut}
        </Button>
      </div>
    </>
  );
}
