/** The pictures of docs/console.md: a row for each. `make-pictures.ts` makes them anew. */
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { ROOT } from './built-console.ts';
import type { SampleConsole } from './sample.ts';
import type { TestLocale } from './signed-in.ts';

export const PICTURES_FOLDER = join(ROOT, 'docs/pictures');
export const MAX_PICTURE_BYTES = 60 * 1024;

export interface Picture {
  /** Name of the file in `docs/pictures/`, without `.png`. */
  readonly name: string;
  /** Address; `ID` is that of the first domain. */
  readonly path: string;
  readonly profile?: Omit<BrowserContextOptions, 'locale'> & { readonly locale?: TestLocale };
  /** Brings the page to what is shown, and waits for it. */
  readonly show: (page: Page, console: SampleConsole) => Promise<unknown>;
}

const PHONE = { viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true } as const;

export const PICTURES: readonly Picture[] = [
  {
    name: 'overview',
    path: '/console/',
    show: async (page) => {
      await page.locator('canvas').first().waitFor();
      await page.getByRole('list', { name: 'Top URLs' }).getByText('/assets/app.js').waitFor();
    },
  },
  {
    name: 'domains',
    path: '/console/domains?sort=traffic',
    show: async (page) => {
      await page.getByRole('checkbox', { name: 'Choose img.example.com' }).check();
      await page.getByRole('checkbox', { name: 'Choose video.example.com' }).check();
      await page.getByRole('link', { name: 'Change settings' }).waitFor();
    },
  },
  {
    name: 'add-domain',
    path: '/console/domains/add',
    show: async (page, { originAddress }) => {
      await page.getByLabel('Names').fill('static.example.com');
      await page.getByLabel('Origins').fill(originAddress);
      await page.getByRole('button', { name: 'Try the origin' }).click();
      await page.getByText('edges would store it').waitFor();
      await page.getByRole('combobox', { name: 'Settings to begin with' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'point-here',
    path: '/console/domains/add',
    show: async (page, { originAddress }) => {
      await page.getByLabel('Names').fill('static.example.com');
      await page.getByLabel('Origins').fill(originAddress);
      await page.getByRole('button', { name: 'Add domain' }).click();
      await page.getByRole('listitem').filter({ hasText: 'The origin answers done' }).waitFor();
      await page.getByRole('listitem').filter({ hasText: 'In force on the edges done' }).waitFor();
    },
  },
  {
    name: 'review',
    path: '/console/domains/ID/advanced',
    show: async (page) => {
      await page.getByRole('switch', { name: "Follow the origin's redirects" }).setChecked(true);
      await page.getByLabel('Browsers keep responses for').fill('3600');
      await page.getByRole('button', { name: 'Review changes' }).click();
      await page.getByRole('dialog').getByText('Browsers keep responses for').waitFor();
    },
  },
  {
    name: 'change-domains',
    path: '/console/domains?name=example.com',
    show: async (page) => {
      await page.getByRole('checkbox', { name: 'Choose all' }).check();
      await page.getByRole('link', { name: 'Change settings' }).click();
      const add = page.getByRole('combobox', { name: 'Add a setting…' });
      await add.selectOption({ label: 'Advanced · Compress texts' });
      await page.getByRole('switch', { name: 'Compress texts' }).setChecked(true);
      await page.getByRole('button', { name: 'Review changes' }).click();
      await page.getByText('is so already').first().waitFor();
    },
  },
  {
    name: 'explain',
    path: '/console/domains/ID/explain?url=http%3A%2F%2Fwww.example.com%2Fassets%2Fapp.js',
    show: async (page) => {
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('Answered by the edge').waitFor();
    },
  },
  {
    name: 'statistics',
    path: '/console/statistics?domains=ID&compare=before',
    show: async (page) => await page.locator('canvas').first().waitFor(),
  },
  {
    name: 'purge',
    path: '/console/purge',
    show: async (page) => {
      await page.getByLabel('Addresses').fill('http://www.example.com/index.html\nhttp://www.example.com/img/');
      await page.getByRole('row', { name: /Task/ }).first().waitFor();
    },
  },
  {
    name: 'send-message',
    path: '/console/messages/send',
    show: async (page) => {
      await page.getByLabel('Number').fill('138 0013 8000');
      await page
        .getByLabel('Text')
        .fill('您的订单 20260131-17 已发货，预计明日送达。查询物流请回复 1，退订回复 T。'.repeat(2));
      await page.getByText('2 parts').waitFor();
      await page.getByRole('button', { name: 'Send to 1 number for CN¥0.09' }).waitFor();
    },
  },
  {
    name: 'edge',
    path: '/console/operator/edges/local',
    show: async (page) => await page.getByText('Its own checks').waitFor(),
  },
  {
    name: 'phone-dark',
    path: '/console/domains?sort=traffic',
    profile: { ...PHONE, colorScheme: 'dark', locale: 'zh-CN' },
    show: async (page) => await page.getByRole('link', { name: 'www.example.com' }).waitFor(),
  },
];
