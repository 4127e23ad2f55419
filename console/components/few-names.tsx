/** The first of several names, and how many more there are; the tooltip has all. */

const SHOWN = 2;

export function FewNames({ names }: { readonly names: readonly string[] }) {
  const more = names.length - SHOWN;
  return (
    <span title={names.join('\n')}>
      <span className="mono">{names.slice(0, SHOWN).join(', ')}</span>
      {more > 0 && <span className="dim"> +{more}</span>}
    </span>
  );
}
