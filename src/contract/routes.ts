/**
 * Every operation of the service: its name here, and where it stands on the wire. `operations.ts` joins each to what it
 * takes and answers; the API's handlers, the client, the OpenAPI document and the tests all follow from these two tables.
 */
import type { Scope, TokenAccess } from '../model/account.ts';

/** Which of the two documented base addresses a path hangs on; one server answers both. */
type Base = 'cdn' | 'sms';

/** The shape of an answer, see `envelopes.ts`. */
export type EnvelopeName = 'cdn' | 'smsSend' | 'smsApp';

export interface Route {
  readonly base: Base;
  readonly path: `/${string}`;
  readonly envelope: EnvelopeName;
  /**
   * What a token is for; `any`: it acts for the token's own account, whatever that is for. `person`: for a browser that is
   * signed in, by the session's cookie alone; `none`: before there is a session. docs/decisions/0662
   */
  readonly scope: Scope | 'any' | 'person' | 'none';
  /** What a token must be allowed to do with it (docs/decisions/0629). A session may call those of `person` all the same. */
  readonly access: TokenAccess;
  /** A token that is limited to some domains may call it, and reaches those alone; others are refused to it. */
  readonly isByDomain?: boolean;
  /** Our own addition: it is not in the interface document. */
  readonly extension?: true;
}

export const ROUTES = {
  'domain.get': cdnRoute('/domain/getDomainById', 'read'),
  'domain.add': cdnRoute('/domain/addDomain', 'write', 'account'),
  'domain.updateOrigin': cdnRoute('/domain/updateConfOrigin', 'write'),

  'domain.list': cdnExtension('/domain/listDomains', 'read'),
  'domain.listBrief': cdnExtension('/domain/listBrief', 'read'),
  'domain.propagation': cdnExtension('/domain/getPropagation', 'read'),
  'domain.delete': cdnExtension('/domain/deleteDomain', 'manage'),
  'domain.setStatus': cdnExtension('/domain/setDomainStatus', 'write'),
  'domain.setRemark': cdnExtension('/domain/setRemark', 'write'),
  'domain.check': cdnExtension('/domain/checkDomain', 'read'),
  'domain.explain': cdnExtension('/domain/explainRequest', 'read'),
  'origin.probe': cdnExtension('/domain/probeOrigin', 'read', 'account'),

  'domain.settings': cdnExtension('/domain/getSettings', 'read'),
  'domain.change': cdnExtension('/domain/changeSettings', 'write'),
  'domain.changeMany': cdnExtension('/domain/changeMany', 'write'),
  'domain.listRevisions': cdnExtension('/domain/listRevisions', 'read'),
  'domain.getRevision': cdnExtension('/domain/getRevision', 'read'),
  'domain.compare': cdnExtension('/domain/compareRevisions', 'read'),
  'domain.revert': cdnExtension('/domain/revertSettings', 'write'),

  'config.setPolicies': cdnRoute('/config/setPolicyInfo', 'write'),
  'config.getAdvanced': cdnRoute('/config/getDomainAdvanced', 'read'),
  'config.setAdvanced': cdnRoute('/config/setDomainAdvanced', 'write'),
  'config.setReferer': cdnRoute('/config/setRefererInfo', 'write'),
  'config.setUserAgent': cdnRoute('/config/setUaInfo', 'write'),
  'config.setIp': cdnRoute('/config/setIpInfo', 'write'),

  'config.getPolicies': cdnExtension('/config/getPolicyInfo', 'read'),
  'config.getReferer': cdnExtension('/config/getRefererInfo', 'read'),
  'config.getUserAgent': cdnExtension('/config/getUaInfo', 'read'),
  'config.getIp': cdnExtension('/config/getIpInfo', 'read'),

  'config.setAddressLists': cdnExtension('/config/setDomainAddressLists', 'write'),
  'config.getAddressLists': cdnExtension('/config/getDomainAddressLists', 'read'),
  'addressList.list': cdnExtension('/config/listAddressLists', 'read', 'account'),
  'addressList.get': cdnExtension('/config/getAddressList', 'read', 'account'),
  'addressList.set': cdnExtension('/config/setAddressList', 'write', 'account'),
  'addressList.delete': cdnExtension('/config/deleteAddressList', 'write', 'account'),

  'config.setRateLimits': cdnExtension('/config/setRateLimits', 'write'),
  'config.getRateLimits': cdnExtension('/config/getRateLimits', 'read'),
  'config.setRedirects': cdnExtension('/config/setRedirects', 'write'),
  'config.getRedirects': cdnExtension('/config/getRedirects', 'read'),
  'config.setResponseHeaders': cdnExtension('/config/setResponseHeaders', 'write'),
  'config.getResponseHeaders': cdnExtension('/config/getResponseHeaders', 'read'),
  'config.setUrlSigning': cdnExtension('/config/setUrlSigning', 'write'),
  'config.getUrlSigning': cdnExtension('/config/getUrlSigning', 'read'),

  'config.setCacheOptions': cdnExtension('/config/setCacheOptions', 'write'),
  'config.getCacheOptions': cdnExtension('/config/getCacheOptions', 'read'),

  'cache.purge': cdnExtension('/cache/purge', 'write'),
  'cache.prefetch': cdnExtension('/cache/prefetch', 'write'),
  'cache.getTask': cdnExtension('/cache/getTask', 'read'),
  'cache.listTasks': cdnExtension('/cache/listTasks', 'read'),

  'certificate.list': cdnRoute('/config/getCertificateList', 'read'),
  'certificate.add': cdnRoute('/config/addCertificate', 'write', 'account'),
  'certificate.delete': cdnRoute('/config/deleteCertificate', 'write', 'account'),
  'certificate.get': cdnExtension('/config/getCertificate', 'read'),
  'certificate.replace': cdnExtension('/config/replaceCertificate', 'write'),
  'config.setSsl': cdnExtension('/config/setSslInfo', 'write'),
  'config.getSsl': cdnExtension('/config/getSslInfo', 'read'),
  'config.requestCertificate': cdnExtension('/config/requestCertificate', 'write'),
  'config.getCertificateRequest': cdnExtension('/config/getCertificateRequest', 'read'),

  'log.list': cdnRoute('/cdnlog/logfiles', 'read'),
  'log.tail': cdnExtension('/cdnlog/tailLog', 'read'),
  'log.search': cdnExtension('/cdnlog/searchLog', 'read'),
  'stat.traffic': cdnExtension('/stat/domainTraffic', 'read'),
  'stat.requests': cdnExtension('/stat/domainRequests', 'read'),
  'stat.top': cdnExtension('/stat/domainTop', 'read'),
  'stat.series': cdnExtension('/stat/series', 'read'),
  'stat.live': cdnExtension('/stat/live', 'read'),
  'stat.topDomains': cdnExtension('/stat/topDomains', 'read'),
  'stat.bandwidth': cdnExtension('/stat/bandwidth', 'read'),

  'event.list': eventRoute('/event/listEvents', 'read'),
  'event.getWebhook': eventRoute('/event/getWebhook', 'write'),
  'event.setWebhook': eventRoute('/event/setWebhook', 'write'),
  'event.watch': ownRoute('/event/watch', 'read'),

  'live.streams': cdnRoute('/stat/domainStreamInfo', 'read'),
  'live.history': cdnExtension('/stat/domainStreamHistory', 'read'),
  'live.viewers': cdnExtension('/stat/domainStreamViewers', 'read'),
  'live.pushInfo': cdnExtension('/live/getPushInfo', 'write'),
  'live.list': cdnExtension('/live/listStreams', 'read'),
  'live.preview': cdnExtension('/live/previewStream', 'read'),
  'live.getRecording': cdnExtension('/live/getRecording', 'read'),
  'live.setRecording': cdnExtension('/live/setRecording', 'write'),
  'live.listRecordings': cdnExtension('/live/listRecordings', 'read'),
  'live.deleteRecording': cdnExtension('/live/deleteRecording', 'write'),

  'audit.list': { ...cdnRoute('/audit/listAuditEvents', 'read', 'account'), extension: true },
  'audit.get': { ...cdnRoute('/audit/getAuditEvent', 'read', 'account'), extension: true },

  'sms.ordinary': { base: 'sms', path: '/api/sms/ordinary', envelope: 'smsSend', scope: 'sms', access: 'write' },
  'sms.advertising': { base: 'sms', path: '/api/sms/advertising', envelope: 'smsSend', scope: 'sms', access: 'write' },
  'sms.updateStatus': {
    base: 'sms',
    path: '/api/app/updateSmsStatus',
    envelope: 'smsApp',
    scope: 'sms',
    access: 'write',
  },

  'sms.getStatus': smsExtension('/api/sms/getStatus', 'read'),
  'sms.list': smsExtension('/api/sms/list', 'read'),
  'sms.listReplies': smsExtension('/api/sms/listReplies', 'write'),
  'sms.balance': smsExtension('/api/sms/balance', 'money'),
  'sms.getOptOuts': smsExtension('/api/sms/getOptOuts', 'read'),
  'sms.addOptOuts': smsExtension('/api/sms/addOptOuts', 'write'),
  'sms.removeOptOuts': smsExtension('/api/sms/removeOptOuts', 'write'),
  'sms.getSettings': smsExtension('/api/app/getSmsSettings', 'read'),
  'sms.setSettings': smsExtension('/api/app/setSmsSettings', 'write'),
  'sms.getWebhook': smsExtension('/api/app/getSmsWebhook', 'write'),
  'sms.setWebhook': smsExtension('/api/app/setSmsWebhook', 'write'),

  'sms.find': smsExtension('/api/sms/find', 'read'),
  'sms.getMessage': smsExtension('/api/sms/getMessage', 'read'),
  'sms.statistics': smsExtension('/api/sms/statistics', 'read'),
  'sms.split': smsExtension('/api/sms/split', 'read'),
  'sms.listLedger': smsExtension('/api/sms/listLedger', 'money'),
  'sms.listApps': smsExtension('/api/app/listSmsApps', 'read'),
  'sms.testWebhook': smsExtension('/api/app/testSmsWebhook', 'write'),
  'sms.listDeliveries': smsExtension('/api/app/listSmsDeliveries', 'read'),

  'session.begin': sessionRoute('/session/begin', 'none', 'write'),
  'session.second': sessionRoute('/session/second', 'person', 'write'),
  'session.passkeyChallenge': sessionRoute('/session/passkeyChallenge', 'none', 'read'),
  'session.methods': sessionRoute('/session/methods', 'none', 'read'),
  'session.beginProvider': sessionRoute('/session/beginProvider', 'none', 'read'),
  'session.get': sessionRoute('/session/get', 'person', 'read'),
  'session.use': sessionRoute('/session/use', 'person', 'write'),
  'session.look': { ...sessionRoute('/session/look', 'person', 'write'), scope: 'operator' },
  'session.list': sessionRoute('/session/list', 'person', 'read'),
  'session.revoke': sessionRoute('/session/revoke', 'person', 'write'),
  'session.end': sessionRoute('/session/end', 'person', 'write'),

  'person.get': sessionRoute('/person/get', 'person', 'read'),
  'person.set': sessionRoute('/person/set', 'person', 'write'),
  'person.setPassword': sessionRoute('/person/setPassword', 'person', 'write'),
  'person.beginTotp': sessionRoute('/person/beginTotp', 'person', 'write'),
  'person.confirmTotp': sessionRoute('/person/confirmTotp', 'person', 'write'),
  'person.removeTotp': sessionRoute('/person/removeTotp', 'person', 'write'),
  'person.makeRecoveryCodes': sessionRoute('/person/makeRecoveryCodes', 'person', 'write'),
  'person.beginPasskey': sessionRoute('/person/beginPasskey', 'person', 'read'),
  'person.addPasskey': sessionRoute('/person/addPasskey', 'person', 'write'),
  'person.listPasskeys': sessionRoute('/person/listPasskeys', 'person', 'read'),
  'person.removePasskey': sessionRoute('/person/removePasskey', 'person', 'write'),

  'person.linkProvider': sessionRoute('/person/linkProvider', 'person', 'write'),
  'person.unlinkProvider': sessionRoute('/person/unlinkProvider', 'person', 'write'),

  'member.list': ownRoute('/member/list', 'manage'),
  'member.invite': ownRoute('/member/invite', 'manage'),
  'member.setRole': ownRoute('/member/setRole', 'manage'),
  'member.remove': ownRoute('/member/remove', 'manage'),
  'member.resetPassword': ownRoute('/member/resetPassword', 'manage'),
  'member.setSecondFactor': ownRoute('/member/setSecondFactor', 'manage'),
  'invitation.get': sessionRoute('/invitation/get', 'none', 'read'),
  'invitation.beginPasskey': sessionRoute('/invitation/beginPasskey', 'none', 'read'),
  'invitation.accept': sessionRoute('/invitation/accept', 'none', 'write'),

  'account.getLimits': ownRoute('/account/getLimits', 'read'),

  'token.list': ownRoute('/token/listTokens', 'manage'),
  'token.create': ownRoute('/token/createToken', 'manage'),
  'token.rotate': ownRoute('/token/rotateToken', 'manage'),
  'token.revoke': ownRoute('/token/revokeToken', 'manage'),

  'operator.createAccount': operatorRoute('/operator/createAccount', 'manage'),
  'operator.listAccounts': operatorRoute('/operator/listAccounts', 'read'),
  'operator.createToken': operatorRoute('/operator/createToken', 'manage'),
  'operator.listTokens': operatorRoute('/operator/listTokens', 'manage'),
  'operator.revokeToken': operatorRoute('/operator/revokeToken', 'manage'),
  'operator.narrowToken': operatorRoute('/operator/narrowToken', 'manage'),
  'operator.listDomains': operatorRoute('/operator/listDomains', 'read'),
  'operator.transferDomain': operatorRoute('/operator/transferDomain', 'manage'),
  'operator.setDomainStatus': operatorRoute('/operator/setDomainStatus', 'write'),
  'operator.rejectDomain': operatorRoute('/operator/rejectDomain', 'write'),
  'operator.rotateKeyring': operatorRoute('/operator/rotateKeyring', 'manage'),
  'operator.setAccountStatus': operatorRoute('/operator/setAccountStatus', 'manage'),
  'operator.getAccountLimits': operatorRoute('/operator/getAccountLimits', 'read'),
  'operator.setAccountLimits': operatorRoute('/operator/setAccountLimits', 'manage'),

  'operator.getBandwidth': operatorRoute('/operator/getBandwidth', 'read'),
  'operator.getAccount': operatorRoute('/operator/getAccount', 'read'),
  'operator.getHealth': operatorRoute('/operator/getHealth', 'read'),
  'operator.getSettings': operatorRoute('/operator/getSettings', 'read'),
  'operator.createPerson': operatorRoute('/operator/createPerson', 'manage'),
  'operator.resetPerson': operatorRoute('/operator/resetPerson', 'manage'),
  'operator.listPersons': operatorRoute('/operator/listPersons', 'manage'),
  'operator.setPersonStatus': operatorRoute('/operator/setPersonStatus', 'manage'),

  'auditOperator.list': operatorRoute('/operator/listAuditEvents', 'read'),
  'auditOperator.get': operatorRoute('/operator/getAuditEvent', 'read'),

  'edgeOperator.list': operatorRoute('/operator/listEdges', 'read'),
  'edgeOperator.get': operatorRoute('/operator/getEdge', 'read'),
  'edgeOperator.setState': operatorRoute('/operator/setEdgeState', 'write'),
  'edgeOperator.status': operatorRoute('/operator/getFleetStatus', 'read'),
  'edgeOperator.events': operatorRoute('/operator/listFleetEvents', 'read'),
  'edgeOperator.exposure': operatorRoute('/operator/getEdgeExposure', 'read'),

  'eventOperator.list': operatorRoute('/operator/listEvents', 'read'),
  'eventOperator.getWebhook': operatorRoute('/operator/getEventWebhook', 'write'),
  'eventOperator.setWebhook': operatorRoute('/operator/setEventWebhook', 'write'),

  'fleetOperator.createToken': operatorRoute('/operator/createEdgeToken', 'manage'),
  'fleetOperator.listTokens': operatorRoute('/operator/listEdgeTokens', 'manage'),
  'fleetOperator.revokeToken': operatorRoute('/operator/revokeEdgeToken', 'manage'),
  'fleetOperator.addEdge': operatorRoute('/operator/addEdge', 'manage'),
  'fleetOperator.revokeEdge': operatorRoute('/operator/revokeEdge', 'manage'),
  'fleetOperator.acceptEdge': operatorRoute('/operator/acceptEdge', 'manage'),
  'fleetOperator.getAuthority': operatorRoute('/operator/getFleetAuthority', 'read'),
  'fleetOperator.rotateAuthority': operatorRoute('/operator/rotateFleetAuthority', 'manage'),

  'liveOperator.list': operatorRoute('/operator/listLiveStreams', 'read'),
  'liveOperator.forbid': operatorRoute('/operator/forbidLiveStream', 'write'),
  'liveOperator.resume': operatorRoute('/operator/resumeLiveStream', 'write'),
  'liveOperator.kick': operatorRoute('/operator/kickLiveStream', 'write'),
  'liveOperator.history': operatorRoute('/operator/listLiveBroadcasts', 'read'),
  'liveOperator.getKeys': operatorRoute('/operator/getLiveKeys', 'write'),
  'liveOperator.setKeys': operatorRoute('/operator/setLiveKeys', 'write'),

  'groupOperator.list': operatorRoute('/operator/listEdgeGroups', 'read'),
  'groupOperator.set': operatorRoute('/operator/setEdgeGroup', 'write'),
  'groupOperator.getDomain': operatorRoute('/operator/getDomainGroups', 'read'),
  'groupOperator.setDomain': operatorRoute('/operator/setDomainGroups', 'write'),
  'groupOperator.remove': operatorRoute('/operator/removeEdgeGroup', 'write'),

  'sinkOperator.list': operatorRoute('/operator/listLogSinks', 'read'),
  'sinkOperator.set': operatorRoute('/operator/setLogSink', 'write'),
  'sinkOperator.test': operatorRoute('/operator/testLogSink', 'write'),
  'sinkOperator.remove': operatorRoute('/operator/removeLogSink', 'write'),

  'smsOperator.createApp': operatorRoute('/operator/createSmsApp', 'money'),
  'smsOperator.listApps': operatorRoute('/operator/listSmsApps', 'read'),
  'smsOperator.recharge': operatorRoute('/operator/rechargeSms', 'money'),
  'smsOperator.listLedger': operatorRoute('/operator/listSmsLedger', 'money'),
  'smsOperator.setPrice': operatorRoute('/operator/setSmsPrice', 'money'),
  'smsOperator.listPrices': operatorRoute('/operator/listSmsPrices', 'money'),
  'smsOperator.setConnector': operatorRoute('/operator/setSmsConnector', 'write'),
  'smsOperator.listConnectors': operatorRoute('/operator/listSmsConnectors', 'read'),
  'smsOperator.testConnector': operatorRoute('/operator/testSmsConnector', 'write'),
  'smsOperator.deleteConnector': operatorRoute('/operator/deleteSmsConnector', 'write'),
  'smsOperator.setRoute': operatorRoute('/operator/setSmsRoute', 'write'),
  'smsOperator.listRoutes': operatorRoute('/operator/listSmsRoutes', 'read'),
  'smsOperator.listUnread': operatorRoute('/operator/listSmsUnread', 'write'),
  'smsOperator.setOptOuts': operatorRoute('/operator/setSmsOptOuts', 'write'),
  'smsOperator.getOptOuts': operatorRoute('/operator/getSmsOptOuts', 'read'),
  'smsOperator.listStates': operatorRoute('/operator/listSmsStates', 'read'),
  'smsOperator.testNumber': operatorRoute('/operator/testSmsNumber', 'money'),
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof ROUTES;

/** The table's names, in its order. */
export const ROUTE_NAMES = Object.keys(ROUTES).filter(isRouteName);

function isRouteName(name: string): name is RouteName {
  return Object.hasOwn(ROUTES, name);
}

/** `reach`: what it is about, domains or the account as a whole. */
function cdnRoute<P extends `/${string}`, A extends TokenAccess>(
  path: P,
  access: A,
  reach: 'domains' | 'account' = 'domains',
) {
  return { base: 'cdn', path, envelope: 'cdn', scope: 'cdn', access, isByDomain: reach === 'domains' } as const;
}

function cdnExtension<P extends `/${string}`, A extends TokenAccess>(
  path: P,
  access: A,
  reach: 'domains' | 'account' = 'domains',
) {
  return { ...cdnRoute(path, access, reach), extension: true } as const;
}

/** Events of the account, of all its domains. */
function eventRoute<P extends `/event/${string}`, A extends TokenAccess>(path: P, access: A) {
  return { ...cdnRoute(path, access, 'account'), extension: true } as const;
}

/** What an account sees and does of itself. */
function ownRoute<P extends `/${'account' | 'event' | 'member' | 'token'}/${string}`, A extends TokenAccess>(
  path: P,
  access: A,
) {
  return { base: 'cdn', path, envelope: 'cdn', scope: 'any', access, extension: true } as const;
}

/** What people do of themselves, whatever their accounts. */
function sessionRoute<P extends `/${string}`, S extends 'person' | 'none', A extends TokenAccess>(
  path: P,
  scope: S,
  access: A,
) {
  return { base: 'cdn', path, envelope: 'cdn', scope, access, extension: true } as const;
}

function operatorRoute<P extends `/operator/${string}`, A extends TokenAccess>(path: P, access: A) {
  return { base: 'cdn', path, envelope: 'cdn', scope: 'operator', access, extension: true } as const;
}

/** An SMS extension, with the envelope that carries data. */
function smsExtension<P extends `/api/${string}`, A extends TokenAccess>(path: P, access: A) {
  return { base: 'sms', path, envelope: 'smsApp', scope: 'sms', access, extension: true } as const;
}
