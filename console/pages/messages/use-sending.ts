/** Sends a draft once, however often it is tried. Refusals belong to the fields that they are about. docs/decisions/0691 */
import { useRef } from 'react';
import { useLocation } from 'wouter';
import { ClientError } from '#client/client-error.ts';
import type { Problem } from '../../components/load.ts';
import { problemOf, useChange } from '../../queries.ts';
import { messagePath, messagesPath } from '../../routes/messaging.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { sendMessageText } from '../../text/send-message.ts';
import { type Attempt, attemptOf, type Draft, numbersOf, sendRequest } from './draft.ts';

export type FieldName = 'app' | 'numbers' | 'text';

interface Sending {
  readonly submit: () => void;
  readonly isPending: boolean;
  /** Why it was refused, by field. */
  readonly errors: { readonly [N in FieldName]?: string };
  /** A refusal that is about no field. */
  readonly problem: Problem | undefined;
}

export function useSending(draft: Draft): Sending {
  const t = useText(sendMessageText);
  const { toasts } = useServices();
  const [, navigate] = useLocation();
  const attempt = useRef<Attempt>(undefined);
  const ordinary = useChange('sms.ordinary');
  const advertising = useChange('sms.advertising');
  const { mutate, isPending, error, variables } = draft.kind === 'advertising' ? advertising : ordinary;
  const submit = () => {
    if (isPending) return;
    attempt.current = attemptOf(attempt.current, draft, Date.now());
    mutate(sendRequest(draft, attempt.current.time), {
      onSuccess: ({ sendid }) => {
        const numbers = numbersOf(draft);
        toasts.show({ about: `message ${sendid}`, title: t.sent, text: sendid });
        navigate(numbers.length === 1 ? messagePath(sendid, numbers[0] ?? '') : messagesPath());
      },
    });
  };
  // A refusal of another draft says nothing about this one.
  const isOfThis = variables !== undefined && attempt.current !== undefined && isSame(attempt.current, draft);
  const refused = isOfThis ? error : null;
  const field = fieldOf(refused);
  return {
    submit,
    isPending,
    errors: field === undefined || refused === null ? {} : { [field]: problemOf(refused).text },
    problem: field === undefined && refused !== null ? problemOf(refused) : undefined,
  };
}

function isSame(attempt: Attempt, draft: Draft): boolean {
  return attemptOf(attempt, draft, 0) === attempt;
}

/** Field that a refusal is about; `undefined`: none, or all. */
export function fieldOf(error: unknown): FieldName | undefined {
  if (!(error instanceof ClientError)) return undefined;
  switch (error.code) {
    case 'smsContentInvalid':
      return 'text';
    case 'mobileInvalid':
      return 'numbers';
    case 'fieldInvalid':
      return /\bmobile\b/.test(error.info) ? 'numbers' : undefined;
    case 'smsAppNotFound':
    case 'smsAppDisabled':
      return 'app';
    default:
      return undefined;
  }
}
