/** An address that no page has. */
import { LinkButton } from '../components/button.tsx';
import { Empty } from '../components/loaded.tsx';
import { Page } from '../components/page.tsx';
import { PATHS } from '../routes.ts';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';

export function MissingPage() {
  const t = useText(shellText);
  return (
    <Page title={t.missingPage}>
      <Empty
        icon="search"
        title={t.missingPage}
        text={t.missingPageHelp}
        action={<LinkButton to={PATHS.overview}>{t.toStart}</LinkButton>}
      />
    </Page>
  );
}
