/** Signing in: an access token is exchanged for a session. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { TextInput } from '../components/input.tsx';
import { Notice } from '../components/notice.tsx';
import { MAIN_ID } from '../components/page.tsx';
import { Form } from '../forms/form.tsx';
import { problemOf, useChange } from '../queries.ts';
import { PreferencesMenu } from '../shell/preferences-menu.tsx';
import { useText } from '../text/catalogue.ts';
import { signInText } from '../text/sign-in.ts';
import styles from './sign-in.module.css';

/** `hasEnded`: there was a session. */
export function SignIn({ hasEnded }: { readonly hasEnded: boolean }) {
  const t = useText(signInText);
  const queries = useQueryClient();
  const begin = useChange('session.begin');
  const [token, setToken] = useState('');
  const [isUnkept, setUnkept] = useState(false);
  useEffect(() => {
    document.title = `${t.title} · Causeway`;
  }, [t]);
  const signIn = async () => {
    await begin.mutateAsync({ access_token: token.trim() });
    await queries.resetQueries({ queryKey: ['session.get'] });
    // Still not signed in: the browser has not kept the cookie.
    setUnkept(queries.getQueriesData({ queryKey: ['session.get'] }).every(([, data]) => data === undefined));
  };
  return (
    <main id={MAIN_ID} className={styles['page']}>
      <div className={styles['box']}>
        <div className={styles['head']}>
          <h1>{t.title}</h1>
          <PreferencesMenu />
        </div>
        {hasEnded && <Notice tone="info">{t.ended}</Notice>}
        {isUnkept && <Notice tone="bad">{t.insecure}</Notice>}
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            return signIn().catch(() => undefined); // shown below
          }}
          problem={begin.error ? problemOf(begin.error) : undefined}
          actions={
            <Button kind="primary" type="submit" isBusy={begin.isPending}>
              {t.submit}
            </Button>
          }
        >
          <Field label={t.token} help={t.tokenHelp}>
            {(ids) => (
              <TextInput
                ids={ids}
                isMono
                type="password"
                autoComplete="current-password"
                name="access_token"
                required
                value={token}
                onChange={(event) => setToken(event.target.value)}
              />
            )}
          </Field>
        </Form>
      </div>
    </main>
  );
}
