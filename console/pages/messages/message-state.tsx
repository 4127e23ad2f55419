/** The state of a message or of a part. What is delivered is plain; what was only simulated is a warning. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import type { Tone } from '../../components/tone.ts';
import { useText } from '../../text/catalogue.ts';
import { messagesText } from '../../text/messages.ts';

type MessageStateName = DataOf<'sms.getMessage'>['status'];

const TONES: Readonly<Record<MessageStateName, Tone>> = {
  queued: 'busy',
  submitting: 'busy',
  uncertain: 'warn',
  submitted: 'busy',
  simulated: 'warn',
  delivered: 'ok',
  failed: 'bad',
  expired: 'bad',
  unknown: 'warn',
  rejected: 'idle',
};

export function MessageState({ state }: { readonly state: MessageStateName }) {
  const t = useText(messagesText);
  return <Badge tone={TONES[state]}>{t.states[state]}</Badge>;
}
