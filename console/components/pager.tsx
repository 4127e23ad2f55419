/** Pages of a list whose length is known. */
import { useText } from '../text/catalogue.ts';
import { commonText } from '../text/common.ts';
import { LinkButton } from './button.tsx';

interface PagerProps {
  readonly page: number;
  /** Rows of all pages. */
  readonly total: number;
  readonly pageSize: number;
  readonly pathOf: (page: number) => string;
}

export function Pager({ page, total, pageSize, pathOf }: PagerProps) {
  const t = useText(commonText);
  const pages = Math.ceil(total / pageSize);
  if (pages <= 1 && page === 1) return null;
  return (
    <nav className="row pad" aria-label={t.pageOf(page, pages)}>
      {page > 1 && (
        <LinkButton icon="left" to={pathOf(page - 1)}>
          {t.previous}
        </LinkButton>
      )}
      <span className="dim">{t.pageOf(page, pages)}</span>
      {page < pages && <LinkButton to={pathOf(page + 1)}>{t.next}</LinkButton>}
    </nav>
  );
}
