/** The rules of who is let in: referer, User-Agent, IP. What is left out keeps what is stored. */
import type { RouteName } from '#contract/routes.ts';
import { changeSettings } from '../change.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

type AccessRoute = Extract<RouteName, `config.${'set' | 'get'}${'Referer' | 'UserAgent' | 'Ip'}`>;

export const ACCESS_HANDLERS = {
  'config.setReferer': async (call, { domainId, mode, allowsBlank, entries }) => {
    await changeSettings(call, domainId, ({ settings }) => ({
      ...settings,
      referer: {
        mode,
        allowsBlank: allowsBlank ?? settings.referer.allowsBlank,
        entries: entries ?? settings.referer.entries,
      },
    }));
  },

  'config.setUserAgent': async (call, { domainId, isOn, entries }) => {
    await changeSettings(call, domainId, ({ settings }) => ({
      ...settings,
      userAgent: { isOn, entries: entries ?? settings.userAgent.entries },
    }));
  },

  'config.setIp': async (call, { domainId, isOn, entries }) => {
    await changeSettings(call, domainId, ({ settings }) => ({
      ...settings,
      ip: { isOn, entries: entries ?? settings.ip.entries },
    }));
  },

  'config.getReferer': async (call, { domainId }) => (await readOwnDomain(call, domainId)).settings.referer,

  'config.getUserAgent': async (call, { domainId }) => (await readOwnDomain(call, domainId)).settings.userAgent,

  'config.getIp': async (call, { domainId }) => (await readOwnDomain(call, domainId)).settings.ip,
} satisfies { readonly [N in AccessRoute]: Handler<N> };
