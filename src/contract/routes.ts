/**
 * Every operation of the service: its name here, and where it stands on the wire. `operations.ts` joins each to what it
 * takes and answers; the API's handlers, the client, the OpenAPI document and the tests all follow from these two tables.
 */
import type { Scope } from '../model/account.ts';

/** Which of the two documented base addresses a path hangs on; one server answers both. */
type Base = 'cdn' | 'sms';

/** The shape of an answer, see `envelopes.ts`. */
export type EnvelopeName = 'cdn' | 'smsSend' | 'smsApp';

export interface Route {
  readonly base: Base;
  readonly path: `/${string}`;
  readonly envelope: EnvelopeName;
  /** What a token must be allowed to do. */
  readonly scope: Scope;
  /** Our own addition: it is not in the interface document. */
  readonly extension?: true;
}

export const ROUTES = {
  'domain.get': cdnRoute('/domain/getDomainById'),
  'domain.add': cdnRoute('/domain/addDomain'),
  'domain.updateOrigin': cdnRoute('/domain/updateConfOrigin'),

  'domain.list': cdnExtension('/domain/listDomains'),
  'domain.delete': cdnExtension('/domain/deleteDomain'),
  'domain.setStatus': cdnExtension('/domain/setDomainStatus'),
  'domain.setRemark': cdnExtension('/domain/setRemark'),

  'config.setPolicies': cdnRoute('/config/setPolicyInfo'),
  'config.getAdvanced': cdnRoute('/config/getDomainAdvanced'),
  'config.setAdvanced': cdnRoute('/config/setDomainAdvanced'),
  'config.setReferer': cdnRoute('/config/setRefererInfo'),
  'config.setUserAgent': cdnRoute('/config/setUaInfo'),
  'config.setIp': cdnRoute('/config/setIpInfo'),

  'config.getPolicies': cdnExtension('/config/getPolicyInfo'),
  'config.getReferer': cdnExtension('/config/getRefererInfo'),
  'config.getUserAgent': cdnExtension('/config/getUaInfo'),
  'config.getIp': cdnExtension('/config/getIpInfo'),

  'config.setCacheOptions': cdnExtension('/config/setCacheOptions'),
  'config.getCacheOptions': cdnExtension('/config/getCacheOptions'),

  'cache.purge': cdnExtension('/cache/purge'),
  'cache.prefetch': cdnExtension('/cache/prefetch'),
  'cache.getTask': cdnExtension('/cache/getTask'),

  'certificate.list': cdnRoute('/config/getCertificateList'),
  'certificate.add': cdnRoute('/config/addCertificate'),
  'certificate.delete': cdnRoute('/config/deleteCertificate'),
  'config.setSsl': cdnExtension('/config/setSslInfo'),
  'config.getSsl': cdnExtension('/config/getSslInfo'),
  'config.requestCertificate': cdnExtension('/config/requestCertificate'),
  'config.getCertificateRequest': cdnExtension('/config/getCertificateRequest'),

  'log.list': cdnRoute('/cdnlog/logfiles'),
  'stat.traffic': cdnExtension('/stat/domainTraffic'),
  'stat.requests': cdnExtension('/stat/domainRequests'),
  'stat.top': cdnExtension('/stat/domainTop'),

  'live.streams': cdnRoute('/stat/domainStreamInfo'),
  'live.history': cdnExtension('/stat/domainStreamHistory'),
  'live.viewers': cdnExtension('/stat/domainStreamViewers'),
  'live.pushInfo': cdnExtension('/live/getPushInfo'),
  'live.getRecording': cdnExtension('/live/getRecording'),
  'live.setRecording': cdnExtension('/live/setRecording'),
  'live.listRecordings': cdnExtension('/live/listRecordings'),
  'live.deleteRecording': cdnExtension('/live/deleteRecording'),

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

  'edgeOperator.list': operatorRoute('/operator/listEdges'),
  'edgeOperator.get': operatorRoute('/operator/getEdge'),
  'edgeOperator.setState': operatorRoute('/operator/setEdgeState'),
  'edgeOperator.status': operatorRoute('/operator/getFleetStatus'),
  'edgeOperator.events': operatorRoute('/operator/listFleetEvents'),
  'edgeOperator.exposure': operatorRoute('/operator/getEdgeExposure'),

  'fleetOperator.createToken': operatorRoute('/operator/createEdgeToken'),
  'fleetOperator.listTokens': operatorRoute('/operator/listEdgeTokens'),
  'fleetOperator.revokeToken': operatorRoute('/operator/revokeEdgeToken'),
  'fleetOperator.addEdge': operatorRoute('/operator/addEdge'),
  'fleetOperator.revokeEdge': operatorRoute('/operator/revokeEdge'),
  'fleetOperator.acceptEdge': operatorRoute('/operator/acceptEdge'),
  'fleetOperator.getAuthority': operatorRoute('/operator/getFleetAuthority'),
  'fleetOperator.rotateAuthority': operatorRoute('/operator/rotateFleetAuthority'),

  'liveOperator.list': operatorRoute('/operator/listLiveStreams'),
  'liveOperator.forbid': operatorRoute('/operator/forbidLiveStream'),
  'liveOperator.resume': operatorRoute('/operator/resumeLiveStream'),
  'liveOperator.kick': operatorRoute('/operator/kickLiveStream'),
  'liveOperator.history': operatorRoute('/operator/listLiveBroadcasts'),
  'liveOperator.getKeys': operatorRoute('/operator/getLiveKeys'),
  'liveOperator.setKeys': operatorRoute('/operator/setLiveKeys'),

  'groupOperator.list': operatorRoute('/operator/listEdgeGroups'),
  'groupOperator.set': operatorRoute('/operator/setEdgeGroup'),
  'groupOperator.getDomain': operatorRoute('/operator/getDomainGroups'),
  'groupOperator.setDomain': operatorRoute('/operator/setDomainGroups'),
  'groupOperator.remove': operatorRoute('/operator/removeEdgeGroup'),

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

function cdnRoute<P extends `/${string}`>(path: P) {
  return { base: 'cdn', path, envelope: 'cdn', scope: 'cdn' } as const;
}

function cdnExtension<P extends `/${string}`>(path: P) {
  return { ...cdnRoute(path), extension: true } as const;
}

function operatorRoute<P extends `/operator/${string}`>(path: P) {
  return { base: 'cdn', path, envelope: 'cdn', scope: 'operator', extension: true } as const;
}

/** An SMS extension, with the envelope that carries data. */
function smsExtension<P extends `/api/${string}`>(path: P) {
  return { base: 'sms', path, envelope: 'smsApp', scope: 'sms', extension: true } as const;
}
