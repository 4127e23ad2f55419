/** Every page of the console, in both languages and themes: its name, its accessibility, a phone, the keyboard, idle calls. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PATHS } from '../../console/routes.ts';
import { findViolations } from '../support/console/axe.ts';
import { startConsole } from '../support/console/browser.ts';
import { ROOT } from '../support/console/built-console.ts';
import { addDomain, openSignedIn, signIn, type TestLocale } from '../support/console/signed-in.ts';
import { needs } from '../support/runner/needs.ts';

/** Path below `/console`, and what stands there in both languages; `ID`: of a domain. */
const PAGES: readonly (readonly [path: string, texts: Readonly<Record<TestLocale, string>>])[] = [
  ['/', { en: 'Needs attention', 'zh-CN': '需要关注' }],
  ['/domains', { en: 'www.example.com', 'zh-CN': 'www.example.com' }],
  ['/domains?name=nobody', { en: 'No domain matches the filter', 'zh-CN': '没有符合条件的域名' }],
  ['/domains/add', { en: 'What it delivers', 'zh-CN': '业务类型' }],
  ['/domains/change?ids=ID', { en: 'What they get', 'zh-CN': '要应用的配置' }],
  ['/domains/change', { en: 'No domain is chosen', 'zh-CN': '尚未选择域名' }],
  ['/domains/ID', { en: 'At a glance', 'zh-CN': '基本信息' }],
  ['/domains/ID/origin', { en: 'Primary origins', 'zh-CN': '主源站' }],
  ['/domains/ID/cache', { en: 'Serve by preferred language', 'zh-CN': '按首选语言命中' }],
  ['/domains/ID/access', { en: 'Require a signature', 'zh-CN': '要求签名' }],
  ['/domains/ID/https', { en: 'Lowest TLS version', 'zh-CN': '最低 TLS 版本' }],
  ['/domains/ID/advanced', { en: 'Compress texts', 'zh-CN': '智能压缩' }],
  ['/domains/ID/dns', { en: 'Asks each resolver', 'zh-CN': '向各解析服务器查询' }],
  ['/domains/ID/explain', { en: 'Header fields', 'zh-CN': '请求头' }],
  ['/domains/ID/revisions', { en: 'domain.add', 'zh-CN': 'domain.add' }],
  ['/domains/ID/propagation', { en: 'Last report', 'zh-CN': '最近上报' }],
  ['/purge', { en: 'There is no task yet', 'zh-CN': '还没有任务' }],
  ['/certificates', { en: 'There is no certificate yet', 'zh-CN': '还没有证书' }],
  ['/certificates/add', { en: 'Certificate and chain', 'zh-CN': '证书及证书链' }],
  ['/statistics', { en: 'Download CSV', 'zh-CN': '下载 CSV' }],
  ['/logs', { en: 'Which domain?', 'zh-CN': '查看哪个域名？' }],
  ['/logs?domain=www.example.com', { en: 'There is no log', 'zh-CN': '最近 30 天没有日志' }],
  ['/logs?domain=www.example.com&view=search', { en: 'Nothing is searched yet', 'zh-CN': '尚未查找' }],
  ['/logs?domain=www.example.com&view=tail', { en: 'Nothing is followed', 'zh-CN': '尚未开始跟踪' }],
  ['/streams', { en: 'There is no live domain yet', 'zh-CN': '还没有直播域名' }],
  ['/streams/www.example.com/live/news', { en: 'is not a live domain', 'zh-CN': '不是直播域名' }],
  ['/messages', { en: 'There is no message yet', 'zh-CN': '还没有短信' }],
  ['/messages/send', { en: 'The account has no SMS service', 'zh-CN': '账户还没有短信应用' }],
  ['/messages/statistics', { en: 'No message in this time', 'zh-CN': '此时段没有短信' }],
  ['/messages/none/13800138000', { en: 'There is nothing here', 'zh-CN': '没有找到' }],
  ['/replies', { en: 'There is no reply yet', 'zh-CN': '还没有回复' }],
  ['/replies/opt-outs', { en: 'No number has opted out', 'zh-CN': '没有退订的号码' }],
  ['/services', { en: 'The account has no SMS service', 'zh-CN': '账户还没有短信应用' }],
  ['/services/none', { en: 'There is nothing here', 'zh-CN': '没有找到' }],
  ['/members', { en: 'There is no member yet', 'zh-CN': '还没有成员' }],
  ['/tokens', { en: 'in use here', 'zh-CN': '当前使用' }],
  ['/security', { en: 'An access token is signed in here', 'zh-CN': '当前以访问令牌登录' }],
  ['/security/sessions', { en: 'this one', 'zh-CN': '当前会话' }],
  ['/audit', { en: 'domain.add', 'zh-CN': 'domain.add' }],
  ['/operator/accounts', { en: 'Create account', 'zh-CN': '创建账户' }],
  ['/operator/accounts?name=nobody', { en: 'No account matches', 'zh-CN': '没有符合条件的账户' }],
  ['/operator/accounts/1', { en: 'Tokens last used', 'zh-CN': '令牌最近使用' }],
  ['/operator/accounts/1/domains', { en: 'www.example.com', 'zh-CN': 'www.example.com' }],
  ['/operator/accounts/1/tokens', { en: 'Last used', 'zh-CN': '最近使用' }],
  ['/operator/accounts/1/money', { en: 'There are no entries yet', 'zh-CN': '还没有流水' }],
  ['/operator/review', { en: 'No domain waits for review', 'zh-CN': '没有待审核的域名' }],
  ['/operator/edges', { en: 'newest revision', 'zh-CN': '最新版本' }],
  ['/operator/edges?view=groups', { en: 'Add group', 'zh-CN': '添加节点组' }],
  ['/operator/edges?view=tokens', { en: 'There are no tokens', 'zh-CN': '没有令牌' }],
  ['/operator/edges?view=events', { en: 'ready', 'zh-CN': 'ready' }],
  ['/operator/edges/local', { en: 'Its own checks', 'zh-CN': '自检' }],
  ['/operator/streams', { en: 'There is no stream', 'zh-CN': '没有直播流' }],
  ['/operator/connectors', { en: 'It reaches no carrier', 'zh-CN': '它不连接运营商' }],
  ['/operator/connectors/edit', { en: 'System id', 'zh-CN': '用户名（system_id）' }],
  ['/operator/connectors/edit?name=loopback', { en: 'Rate limit', 'zh-CN': '速率上限' }],
  ['/operator/connectors?view=routes', { en: 'all other numbers', 'zh-CN': '其他所有号码' }],
  ['/operator/connectors?view=prices', { en: 'Try a number', 'zh-CN': '试查号码' }],
  ['/operator/connectors?view=optOuts', { en: 'No number has opted out', 'zh-CN': '没有对所有账户退订的号码' }],
  ['/operator/connectors?view=unread', { en: 'Everything could be read', 'zh-CN': '没有无法解读的内容' }],
  ['/operator/health', { en: 'edge-worker-1', 'zh-CN': 'edge-worker-1' }],
  ['/operator/health?view=settings', { en: 'control-listen', 'zh-CN': 'control-listen' }],
  ['/operator/health?view=events', { en: 'Events are posted nowhere', 'zh-CN': '事件不推送到任何地址' }],
  ['/nowhere', { en: 'The address may be mistyped', 'zh-CN': '地址可能有误' }],
];

/** Labels that lie over their controls. */
const OVERLAPS = `[...document.querySelectorAll('label[for]')].filter((label) => {
  const control = document.getElementById(label.htmlFor)?.getBoundingClientRect();
  const words = label.getBoundingClientRect();
  return control && words.width > 0 && control.left < words.right - 1 && words.left < control.right - 1 &&
    control.top < words.bottom - 1 && words.top < control.bottom - 1;
}).map((label) => label.textContent)`;

/** Each language and each theme once. */
const LOOKS = [
  { locale: 'en', colorScheme: 'light' },
  { locale: 'zh-CN', colorScheme: 'dark' },
] as const;

const DESK = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };

const IDLE_MS = 10_000;
const MAX_IDLE_CALLS = 12;

test('every page of the console has an example here', async () => {
  const patterns = await readPagePatterns();
  const shown = PAGES.map(([path]) => patterns.find((pattern) => isMatch(pattern, path.replace(/\?.*/, ''))));
  assert.deepEqual(
    patterns.filter((pattern) => !shown.includes(pattern)),
    [],
  );
});

test('every page is as it should be', needs('chromium'), async (t) => {
  const console = await startConsole(t);
  const id = await addDomain(console, 'www.example.com');
  const paths = PAGES.map(([path, texts]) => [`/console${path.replace('ID', id)}`, texts] as const);

  for (const { locale, colorScheme } of LOOKS) {
    await t.test(`pages have no fault that axe finds, and fit a phone: ${locale}, ${colorScheme}`, async (t) => {
      const page = await openSignedIn(t, console, '/console/', { locale, colorScheme });
      for (const [path, texts] of paths) {
        await page.goto(path);
        await page.getByText(texts[locale]).first().waitFor();
        await page.evaluate('document.fonts.ready.then(() => true)');
        assert.deepEqual(await findViolations(page), [], path);
        assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, path);
        await page.setViewportSize(PHONE);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.ok(Number(width) <= PHONE.width, `${path} is ${width} px wide`);
        assert.deepEqual(await page.evaluate(OVERLAPS), [], path);
        await page.setViewportSize(DESK);
      }
      assert.equal(await page.locator('html').getAttribute('lang'), locale);
    });
  }

  await t.test('the menu of a phone has no fault that axe finds', async (t) => {
    const page = await openSignedIn(t, console, '/console/', { viewport: PHONE, hasTouch: true, isMobile: true });
    await page.getByRole('navigation').getByRole('link', { name: 'Domains' }).tap();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    assert.deepEqual(await findViolations(page), []);
  });

  await t.test('the open tab is seen on a phone, also the last one', async (t) => {
    const page = await openSignedIn(t, console, `/console/domains/${id}/propagation`, { viewport: PHONE });
    await page.getByRole('navigation', { name: 'Parts of the domain' }).waitFor();
    const open = page.locator('main nav [aria-current=page]');
    await page.waitForFunction(`(() => {
      const tab = document.querySelector('main nav [aria-current=page]').getBoundingClientRect();
      return tab.left >= 0 && tab.right <= innerWidth;
    })()`);
    assert.equal(await open.textContent(), 'Propagation');
  });

  await t.test('an idle page makes at most twelve calls in ten seconds', async (t) => {
    const page = await openSignedIn(t, console);
    const counted = await Promise.all(
      paths.map(async ([path, texts]) => {
        const tab = await console.openBeside(page, path);
        await tab.getByText(texts.en).first().waitFor();
        let calls = 0;
        tab.on('request', (request) => {
          if (request.method() === 'POST') calls += 1;
        });
        await tab.waitForTimeout(IDLE_MS);
        return [path, calls] as const;
      }),
    );
    assert.deepEqual(
      counted.filter(([, calls]) => calls > MAX_IDLE_CALLS),
      [],
    );
  });

  await t.test('a keyboard is enough to sign in, find a domain and change it', async () => {
    const page = await console.open('/console/');
    await signIn(page, console.service.token);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('www.exa');
    await page.getByRole('option', { name: 'www.example.com' }).waitFor();
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { level: 1, name: 'www.example.com' });
    await heading.waitFor();
    await page.waitForFunction('document.activeElement?.tagName === "H1"');
    for (let n = 0; !(await isFocused(page.getByRole('link', { name: 'Advanced' }))); n += 1) {
      assert.ok(n < 15, 'the tabs are far from the heading');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    const change = page.getByRole('switch', { name: 'Compress texts' });
    await change.waitFor();
    await change.focus();
    await page.keyboard.press('Space');
    await page.getByRole('switch', { name: 'Compress texts', checked: true }).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog', { name: 'What will change' }).getByText('Compress texts').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).press('Enter');
    await page.getByRole('switch', { name: 'Compress texts', checked: false }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  });

  await t.test('a menu takes the focus at its first press, and gives it back', async (t) => {
    const page = await openSignedIn(t, console);
    for (const key of ['Enter', 'Space']) {
      await page.reload();
      const button = page.getByRole('button', { name: 'Language, theme and times' });
      await button.focus();
      await page.keyboard.press(key);
      await page.locator('[role=menu]:focus, [role=menu] :focus').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Escape');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      assert.ok(await isFocused(button), key);
    }
    await page.reload();
    await page.getByRole('button', { name: 'Language, theme and times' }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await page.locator('html[data-theme=dark]').waitFor();
  });

  await t.test('the first Tab of a page skips to its content', async (t) => {
    const page = await openSignedIn(t, console, '/console/domains');
    await page.reload();
    await page.getByRole('link', { name: 'www.example.com' }).waitFor();
    await page.keyboard.press('Tab');
    assert.ok(await isFocused(page.getByRole('link', { name: 'Skip to the content' })));
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement?.id'), 'main');
  });
});

/** Addresses of the table of pages, in its order. It is read as text: Node runs no JSX. */
async function readPagePatterns(): Promise<readonly string[]> {
  const source = readFileSync(join(ROOT, 'console/pages.tsx'), 'utf8');
  const table = source.slice(source.indexOf('const PAGES'), source.indexOf('\n];'));
  const rows = [...table.matchAll(/^ {2}(?:inMenu\('(\w+)'|\{\s*path: (?:PATHS\.)?(\w+),)/gm)];
  const files = globSync(['console/routes.ts', 'console/routes/*.ts'], { cwd: ROOT, exclude: ['**/*.test.ts'] });
  const modules = await Promise.all(files.map((file): Promise<object> => import(join(ROOT, file))));
  const known = new Map<string, unknown>([PATHS, ...modules].flatMap((values) => Object.entries(values)));
  assert.equal(rows.length, source.match(/= lazily\(/g)?.length, 'a row for each page, as they are written here');
  return rows.map(([row, page = '', constant = '']) => {
    const pattern = known.get(page || constant);
    return typeof pattern === 'string' ? pattern : assert.fail(row);
  });
}

/** Whether wouter matches a path: `:name` is a part, one with `?` may be absent. */
function isMatch(pattern: string, path: string): boolean {
  const parts = pattern.replace(/\/:\w+\?/g, '(?:/[^/]+)?').replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${parts}$`).test(path);
}

async function isFocused(locator: import('playwright-core').Locator): Promise<boolean> {
  return (await locator.and(locator.page().locator(':focus')).count()) === 1;
}
