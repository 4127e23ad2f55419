/** Several of the account's domains, each as a button that takes it away; none: all. */
import { Button } from '../../components/button.tsx';
import { MAX_COMPARED_DOMAINS } from '../../routes/statistics.ts';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import { DomainSelect, useDomainNames } from '../domains/domain-select.tsx';

interface DomainPickerProps {
  /** Ids. */
  readonly domains: readonly string[];
  readonly onChange: (domains: readonly string[]) => void;
}

export function DomainPicker({ domains, onChange }: DomainPickerProps) {
  const t = useText(statisticsText);
  const names = useDomainNames(domains);
  return (
    <>
      {domains.map((id) => {
        const name = names.get(id) ?? id;
        return (
          <Button
            key={id}
            icon="close"
            title={t.takeAway(name)}
            onClick={() => onChange(domains.filter((other) => other !== id))}
          >
            <span className="mono">{name}</span>
          </Button>
        );
      })}
      {domains.length < MAX_COMPARED_DOMAINS && (
        <DomainSelect
          label={t.domain}
          none={domains.length === 0 ? t.allDomains : t.addDomain}
          value=""
          onChoose={(chosen) => chosen && onChange([...new Set([...domains, chosen.id])])}
        />
      )}
    </>
  );
}
