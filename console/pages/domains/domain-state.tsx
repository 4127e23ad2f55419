/** The state of a domain, in the service's words: only a state that is not well has a color. */
import { Badge } from '../../components/badge.tsx';
import type { Tone } from '../../components/tone.ts';

const TONES: Readonly<Record<string, Tone>> = { '0': 'idle', '1': 'busy', '2': 'ok', '5': 'bad', '6': 'bad' };

const SETTLING_MS = 1000;

/** How soon a domain is read again: often while its settings travel to the edges. */
export function whileSettling(domain: { readonly domain_status: number | string } | undefined): number | false {
  return Number(domain?.domain_status) === 1 && SETTLING_MS;
}

interface DomainStateProps {
  readonly domain: { readonly domain_status: number | string; readonly status: string };
}

export function DomainState({ domain: { domain_status, status } }: DomainStateProps) {
  return (
    <span role="status">
      <Badge tone={TONES[String(domain_status)] ?? 'idle'}>{status}</Badge>
    </span>
  );
}
