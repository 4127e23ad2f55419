/**
 * Every operation of the service: its name here, and where it stands on the wire. `operations.ts` joins each to what it
 * takes and gives; the API's handlers, the client, the OpenAPI document and the tests all follow from these two tables.
 */

/** Which of the two documented base addresses a path hangs on; one server answers both. */
type Base = 'cdn' | 'sms';

/** The shape of an answer, see `envelopes.ts`. */
export type EnvelopeName = 'cdn' | 'smsSend' | 'smsApp';

/** What a token must be allowed to do. */
export type Scope = 'cdn' | 'sms' | 'operator';

export interface Route {
  readonly base: Base;
  readonly path: `/${string}`;
  readonly envelope: EnvelopeName;
  readonly scope: Scope;
  /** Our own addition: it is not in the interface document. */
  readonly extension?: true;
}

export const ROUTES = {
  'domain.get': { base: 'cdn', path: '/domain/getDomainById', envelope: 'cdn', scope: 'cdn' },
  'domain.add': { base: 'cdn', path: '/domain/addDomain', envelope: 'cdn', scope: 'cdn' },
  'domain.updateOrigin': { base: 'cdn', path: '/domain/updateConfOrigin', envelope: 'cdn', scope: 'cdn' },

  'domain.list': { base: 'cdn', path: '/domain/listDomains', envelope: 'cdn', scope: 'cdn', extension: true },
  'domain.delete': { base: 'cdn', path: '/domain/deleteDomain', envelope: 'cdn', scope: 'cdn', extension: true },
  'domain.setStatus': { base: 'cdn', path: '/domain/setDomainStatus', envelope: 'cdn', scope: 'cdn', extension: true },
  'domain.setRemark': { base: 'cdn', path: '/domain/setRemark', envelope: 'cdn', scope: 'cdn', extension: true },

  'config.setPolicies': { base: 'cdn', path: '/config/setPolicyInfo', envelope: 'cdn', scope: 'cdn' },
  'config.getAdvanced': { base: 'cdn', path: '/config/getDomainAdvanced', envelope: 'cdn', scope: 'cdn' },
  'config.setAdvanced': { base: 'cdn', path: '/config/setDomainAdvanced', envelope: 'cdn', scope: 'cdn' },
  'config.setReferer': { base: 'cdn', path: '/config/setRefererInfo', envelope: 'cdn', scope: 'cdn' },
  'config.setUserAgent': { base: 'cdn', path: '/config/setUaInfo', envelope: 'cdn', scope: 'cdn' },
  'config.setIp': { base: 'cdn', path: '/config/setIpInfo', envelope: 'cdn', scope: 'cdn' },

  'config.getPolicies': { base: 'cdn', path: '/config/getPolicyInfo', envelope: 'cdn', scope: 'cdn', extension: true },
  'config.getReferer': { base: 'cdn', path: '/config/getRefererInfo', envelope: 'cdn', scope: 'cdn', extension: true },
  'config.getUserAgent': { base: 'cdn', path: '/config/getUaInfo', envelope: 'cdn', scope: 'cdn', extension: true },
  'config.getIp': { base: 'cdn', path: '/config/getIpInfo', envelope: 'cdn', scope: 'cdn', extension: true },

  'config.setCacheOptions': {
    base: 'cdn',
    path: '/config/setCacheOptions',
    envelope: 'cdn',
    scope: 'cdn',
    extension: true,
  },
  'config.getCacheOptions': {
    base: 'cdn',
    path: '/config/getCacheOptions',
    envelope: 'cdn',
    scope: 'cdn',
    extension: true,
  },

  'cache.purge': { base: 'cdn', path: '/cache/purge', envelope: 'cdn', scope: 'cdn', extension: true },
  'cache.prefetch': { base: 'cdn', path: '/cache/prefetch', envelope: 'cdn', scope: 'cdn', extension: true },
  'cache.getTask': { base: 'cdn', path: '/cache/getTask', envelope: 'cdn', scope: 'cdn', extension: true },

  'certificate.list': { base: 'cdn', path: '/config/getCertificateList', envelope: 'cdn', scope: 'cdn' },
  'certificate.add': { base: 'cdn', path: '/config/addCertificate', envelope: 'cdn', scope: 'cdn' },
  'certificate.delete': { base: 'cdn', path: '/config/deleteCertificate', envelope: 'cdn', scope: 'cdn' },
  'config.setSsl': { base: 'cdn', path: '/config/setSslInfo', envelope: 'cdn', scope: 'cdn', extension: true },
  'config.getSsl': { base: 'cdn', path: '/config/getSslInfo', envelope: 'cdn', scope: 'cdn', extension: true },
  'config.requestCertificate': {
    base: 'cdn',
    path: '/config/requestCertificate',
    envelope: 'cdn',
    scope: 'cdn',
    extension: true,
  },
  'config.getCertificateRequest': {
    base: 'cdn',
    path: '/config/getCertificateRequest',
    envelope: 'cdn',
    scope: 'cdn',
    extension: true,
  },

  'log.list': { base: 'cdn', path: '/cdnlog/logfiles', envelope: 'cdn', scope: 'cdn' },
  'stat.traffic': { base: 'cdn', path: '/stat/domainTraffic', envelope: 'cdn', scope: 'cdn', extension: true },
  'stat.requests': { base: 'cdn', path: '/stat/domainRequests', envelope: 'cdn', scope: 'cdn', extension: true },
  'stat.top': { base: 'cdn', path: '/stat/domainTop', envelope: 'cdn', scope: 'cdn', extension: true },

  'live.streams': { base: 'cdn', path: '/stat/domainStreamInfo', envelope: 'cdn', scope: 'cdn' },
  'live.history': { base: 'cdn', path: '/stat/domainStreamHistory', envelope: 'cdn', scope: 'cdn', extension: true },
  'live.viewers': { base: 'cdn', path: '/stat/domainStreamViewers', envelope: 'cdn', scope: 'cdn', extension: true },
  'live.pushInfo': { base: 'cdn', path: '/live/getPushInfo', envelope: 'cdn', scope: 'cdn', extension: true },
  'live.getRecording': { base: 'cdn', path: '/live/getRecording', envelope: 'cdn', scope: 'cdn', extension: true },
  'live.setRecording': { base: 'cdn', path: '/live/setRecording', envelope: 'cdn', scope: 'cdn', extension: true },
  'live.listRecordings': { base: 'cdn', path: '/live/listRecordings', envelope: 'cdn', scope: 'cdn', extension: true },
  'live.deleteRecording': {
    base: 'cdn',
    path: '/live/deleteRecording',
    envelope: 'cdn',
    scope: 'cdn',
    extension: true,
  },

  'sms.ordinary': { base: 'sms', path: '/api/sms/ordinary', envelope: 'smsSend', scope: 'sms' },
  'sms.advertising': { base: 'sms', path: '/api/sms/advertising', envelope: 'smsSend', scope: 'sms' },
  'sms.updateStatus': { base: 'sms', path: '/api/app/updateSmsStatus', envelope: 'smsApp', scope: 'sms' },

  'sms.getStatus': smsExtension('/api/sms/getStatus'),
  'sms.list': smsExtension('/api/sms/list'),
  'sms.listReplies': smsExtension('/api/sms/listReplies'),
  'sms.balance': smsExtension('/api/sms/balance'),
  'sms.getOptOuts': smsExtension('/api/sms/getOptOuts'),
  'sms.addOptOuts': smsExtension('/api/sms/addOptOuts'),
  'sms.removeOptOuts': smsExtension('/api/sms/removeOptOuts'),
  'sms.getSettings': smsExtension('/api/app/getSmsSettings'),
  'sms.setSettings': smsExtension('/api/app/setSmsSettings'),
  'sms.getWebhook': smsExtension('/api/app/getSmsWebhook'),
  'sms.setWebhook': smsExtension('/api/app/setSmsWebhook'),

  'operator.createAccount': operatorRoute('/operator/createAccount'),
  'operator.listAccounts': operatorRoute('/operator/listAccounts'),
  'operator.createToken': operatorRoute('/operator/createToken'),
  'operator.listTokens': operatorRoute('/operator/listTokens'),
  'operator.revokeToken': operatorRoute('/operator/revokeToken'),
  'operator.narrowToken': operatorRoute('/operator/narrowToken'),
  'operator.listDomains': operatorRoute('/operator/listDomains'),
  'operator.transferDomain': operatorRoute('/operator/transferDomain'),
  'operator.setDomainStatus': operatorRoute('/operator/setDomainStatus'),
  'operator.rotateKeyring': operatorRoute('/operator/rotateKeyring'),
  'operator.setAccountStatus': operatorRoute('/operator/setAccountStatus'),

  'liveOperator.list': operatorRoute('/operator/listLiveStreams'),
  'liveOperator.forbid': operatorRoute('/operator/forbidLiveStream'),
  'liveOperator.resume': operatorRoute('/operator/resumeLiveStream'),
  'liveOperator.kick': operatorRoute('/operator/kickLiveStream'),
  'liveOperator.history': operatorRoute('/operator/listLiveBroadcasts'),
  'liveOperator.getKeys': operatorRoute('/operator/getLiveKeys'),
  'liveOperator.setKeys': operatorRoute('/operator/setLiveKeys'),

  'smsOperator.createApp': operatorRoute('/operator/createSmsApp'),
  'smsOperator.listApps': operatorRoute('/operator/listSmsApps'),
  'smsOperator.recharge': operatorRoute('/operator/rechargeSms'),
  'smsOperator.listLedger': operatorRoute('/operator/listSmsLedger'),
  'smsOperator.setPrice': operatorRoute('/operator/setSmsPrice'),
  'smsOperator.listPrices': operatorRoute('/operator/listSmsPrices'),
  'smsOperator.setConnector': operatorRoute('/operator/setSmsConnector'),
  'smsOperator.listConnectors': operatorRoute('/operator/listSmsConnectors'),
  'smsOperator.testConnector': operatorRoute('/operator/testSmsConnector'),
  'smsOperator.deleteConnector': operatorRoute('/operator/deleteSmsConnector'),
  'smsOperator.setRoute': operatorRoute('/operator/setSmsRoute'),
  'smsOperator.listRoutes': operatorRoute('/operator/listSmsRoutes'),
  'smsOperator.listUnread': operatorRoute('/operator/listSmsUnread'),
  'smsOperator.setOptOuts': operatorRoute('/operator/setSmsOptOuts'),
  'smsOperator.getOptOuts': operatorRoute('/operator/getSmsOptOuts'),
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof ROUTES;

/** The table's names, in its order. */
export const ROUTE_NAMES = Object.keys(ROUTES).filter(isRouteName);

function isRouteName(name: string): name is RouteName {
  return Object.hasOwn(ROUTES, name);
}

function operatorRoute<P extends `/operator/${string}`>(path: P) {
  return { base: 'cdn', path, envelope: 'cdn', scope: 'operator', extension: true } as const;
}

/** An SMS extension, with the envelope that carries data. */
function smsExtension<P extends `/api/${string}`>(path: P) {
  return { base: 'sms', path, envelope: 'smsApp', scope: 'sms', extension: true } as const;
}
