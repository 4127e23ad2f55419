/** Links to the pages of a list whose length is known. */
import { LinkButton } from '../../components/button.tsx';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';

interface PagerProps {
  readonly page: number;
  readonly pages: number;
  readonly pathOf: (page: number) => string;
}

export function Pager({ page, pages, pathOf }: PagerProps) {
  const t = useText(streamsText);
  if (pages <= 1) return null;
  const here = t.page(page, pages);
  return (
    <nav className="row pad" aria-label={here}>
      {page > 1 && (
        <LinkButton icon="left" to={pathOf(page - 1)}>
          {t.previous}
        </LinkButton>
      )}
      <span className="dim">{here}</span>
      {page < pages && <LinkButton to={pathOf(page + 1)}>{t.next}</LinkButton>}
    </nav>
  );
}
