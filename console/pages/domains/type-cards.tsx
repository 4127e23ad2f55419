/** What a domain delivers, as five cards of which one is chosen. */
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import styles from './type-cards.module.css';

const TYPES = ['1', '2', '3', '4', '6'] as const;
type Type = (typeof TYPES)[number];

export function TypeCards({ value, onChange }: { readonly value: Type; readonly onChange: (value: Type) => void }) {
  const t = useText(addDomainText);
  return (
    <fieldset className={styles['cards']}>
      <legend className={styles['legend']}>{t.type}</legend>
      {TYPES.map((type) => {
        const [title, help] = t.types[type];
        return (
          <label key={type} className={styles['card']}>
            <input type="radio" name="cdn_type" checked={value === type} onChange={() => onChange(type)} />
            <span>
              <em>{title}</em>
              <span className={styles['help']}>{help}</span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
