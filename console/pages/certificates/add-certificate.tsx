/** Adding a certificate: its files are dropped, chosen or pasted, and read here before they are sent. */
import { useLocation } from 'wouter';
import { CERTIFICATE_OPERATIONS } from '#contract/domains/certificate-operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextArea, TextInput } from '../../components/input.tsx';
import { Page } from '../../components/page.tsx';
import { Form } from '../../forms/form.tsx';
import { useForm } from '../../forms/use-form.ts';
import { problemOf, useChange } from '../../queries.ts';
import { certificatesPath } from '../../routes/delivery.ts';
import { PATHS } from '../../routes.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { certificatesText } from '../../text/certificates.ts';
import { FileDrop } from './file-drop.tsx';
import { leafOf, readPem } from './pem.ts';
import { pemProblems } from './pem-problems.ts';

const { request } = CERTIFICATE_OPERATIONS['certificate.add'];
const MAX_SHOWN_NAMES = 5;

export function AddCertificate() {
  const t = useText(certificatesText);
  const [, navigate] = useLocation();
  const { toasts } = useServices();
  const add = useChange('certificate.add');
  const { values, set, errors, leave, check } = useForm(request, { ssl_title: '', certificate: '', private_key: '' });
  const content = readPem(values.certificate);
  const leaf = leafOf(content);
  const problems = pemProblems(values.certificate, values.private_key, Date.now());
  const submit = () => {
    if (!check() || problems.certificate !== undefined || problems.key !== undefined) return;
    add.mutate(values, {
      onSuccess: ({ ssl_key }) => {
        toasts.show({ about: `certificate ${ssl_key}`, title: t.added(values.ssl_title) });
        navigate(certificatesPath({ ssl_key }));
      },
    });
  };
  const names = leaf?.names.slice(0, MAX_SHOWN_NAMES).join(', ') ?? '';
  return (
    <Page title={t.add} back={{ to: PATHS.certificates, title: t.title }} isNarrow>
      <Card>
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
          problem={add.error ? problemOf(add.error) : undefined}
          actions={
            <Button kind="primary" type="submit" isBusy={add.isPending}>
              {t.add}
            </Button>
          }
        >
          <FileDrop onText={(text) => set(taken(text, values))} />
          <Field
            label={t.certificate}
            help={names === '' ? t.certificateHelp : t.found(names, content.certificates.length - 1)}
            error={problems.certificate === undefined ? errors.certificate : t.problems[problems.certificate]}
          >
            {(ids) => (
              <TextArea
                ids={ids}
                isMono
                rows={6}
                value={values.certificate}
                onBlur={() => leave('certificate')}
                onChange={({ target: { value } }) =>
                  set({ certificate: value, ...(isPem(value) && taken(value, values)) })
                }
              />
            )}
          </Field>
          <Field
            label={t.privateKey}
            help={t.privateKeyHelp}
            error={problems.key === undefined ? errors.private_key : t.problems[problems.key]}
          >
            {(ids) => (
              <TextArea
                ids={ids}
                isMono
                rows={4}
                autoComplete="off"
                value={values.private_key}
                onBlur={() => leave('private_key')}
                onChange={(event) => set({ private_key: event.target.value })}
              />
            )}
          </Field>
          <Field label={t.name} error={errors.ssl_title}>
            {(ids) => (
              <TextInput
                ids={ids}
                value={values.ssl_title}
                onBlur={() => leave('ssl_title')}
                onChange={(event) => set({ ssl_title: event.target.value })}
              />
            )}
          </Field>
        </Form>
      </Card>
    </Page>
  );
}

type Values = { readonly [N in 'ssl_title' | 'certificate' | 'private_key']: string };

/** Certificates go into their field and a key into its own, wherever they were put; the first name is a title. */
function taken(text: string, values: Values): Values {
  const { certificateText, keyText } = readPem(text);
  const certificate = certificateText || values.certificate;
  const [name = ''] = leafOf(readPem(certificate))?.names ?? [];
  return { certificate, private_key: keyText || values.private_key, ssl_title: values.ssl_title || name };
}

/** Whole enough to be taken apart. */
function isPem(text: string): boolean {
  return text.includes('-----END ');
}
