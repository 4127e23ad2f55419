/** A small form before the page, for one operation: its fields are those that have words, in their order. docs/decisions/0698 */
import type { SettingWords } from '#contract/changes/setting-words.ts';
import type { CallOf, DataOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Fields } from '#contract/schema/fields.ts';
import type { RequestContract } from '#contract/schema/operation.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { problemOf, useChange } from '../queries.ts';
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { ContractField } from './contract-field.tsx';
import { Form } from './form.tsx';
import { useForm } from './use-form.ts';

type Values = Readonly<Record<string, unknown>>;

interface FormDialogProps<N extends RouteName> {
  readonly title: string;
  readonly help?: string;
  /** Verb and object. */
  readonly action: string;
  readonly name: N;
  readonly contract: RequestContract;
  readonly words: Readonly<Record<string, SettingWords>>;
  /** Initial values of the fields, and values that no field shows. */
  readonly initial: Partial<CallOf<N>>;
  /** The values that there are, where the contract does not know them, or knows more. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Makes the request of what the fields have; absent: as it is. */
  readonly requestOf?: (values: CallOf<N>) => CallOf<N>;
  readonly onDone: (data: DataOf<N>) => void;
  readonly onClose: () => void;
}

export function FormDialog<N extends RouteName>(props: FormDialogProps<N>) {
  const { title, help, action, name: operation, contract, words, initial, choices, requestOf, onDone, onClose } = props;
  const common = useText(commonText);
  const change = useChange(operation);
  const fields = withChoices(contract.fields, choices);
  const state = useForm<Values>(contract, initial);
  const form = { ...state, set: (changed: Values) => state.set(withoutEmptyLists(changed, fields)) };
  const submit = () => {
    if (!form.check()) return;
    const values = form.values as CallOf<N>; // the contract has nothing against them
    change.mutate(requestOf === undefined ? values : requestOf(values), { onSuccess: onDone });
  };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      {help !== undefined && <p className="help">{help}</p>}
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        problem={change.error ? problemOf(change.error) : undefined}
        actions={
          <>
            <Button kind="primary" type="submit" isBusy={change.isPending}>
              {action}
            </Button>
            <Button onClick={onClose}>{common.cancel}</Button>
          </>
        }
      >
        {Object.entries(words).map(([name, said]) => (
          <ContractField key={name} {...{ form, fields, name }} words={said} />
        ))}
      </Form>
    </Dialog>
  );
}

function withChoices(fields: Fields, choices: FormDialogProps<RouteName>['choices'] = {}): Fields {
  const chosen = Object.entries(choices).flatMap(([name, values]) => {
    const field = fields[name];
    if (field === undefined) return [];
    const { schema, expects, kind } = field;
    const isSeveral = kind === 'choices' || kind === 'list';
    return [[name, { schema, expects, values, kind: isSeveral ? 'choices' : 'choice' }] as const];
  });
  return { ...fields, ...Object.fromEntries(chosen) };
}

/** A list without entries is no limit at all, which is said by its absence. */
function withoutEmptyLists(changed: Values, fields: Fields): Values {
  const isEmptyList = (name: string, value: unknown) =>
    fields[name]?.kind === 'list' && Array.isArray(value) && value.length === 0;
  return Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [name, isEmptyList(name, value) ? undefined : value]),
  );
}
