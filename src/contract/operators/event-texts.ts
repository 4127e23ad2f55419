/** The texts of events, made from their kind, target and details. */
import type { EventData, EventKind, EventTarget } from '../../model/event.ts';
import { REQUEST_PROBLEM_LABELS } from '../domains/labels.ts';
import type { Locale, Localized } from '../schema/locale.ts';

/** `{name}`: the name of the target; other words in braces: details. */
export const EVENT_TEXTS: Readonly<Record<EventKind, Localized>> = {
  'edge.state': { 'zh-CN': '节点 {name} 的状态变化：{detail}', en: 'edge {name} changed state: {detail}' },
  'edge.away': { 'zh-CN': '节点 {name} 失联（{detail}）', en: 'edge {name} is away ({detail})' },
  'edge.back': { 'zh-CN': '节点 {name} 已恢复联系（{detail}）', en: 'edge {name} is back ({detail})' },
  'edge.unhealthy': { 'zh-CN': '节点 {name} 自检未通过（{detail}）', en: 'edge {name} is unhealthy ({detail})' },
  'edge.enrol': { 'zh-CN': '节点 {name} 已注册：{detail}', en: 'edge {name} was enrolled: {detail}' },
  'edge.drain': { 'zh-CN': '已下令排空节点 {name}（{detail}）', en: 'the drain of edge {name} was ordered ({detail})' },
  'edge.undrain': {
    'zh-CN': '节点 {name} 已取消排空（{detail}）',
    en: 'the drain of edge {name} was withdrawn ({detail})',
  },
  'edge.remove': { 'zh-CN': '节点 {name} 已移除（{detail}）', en: 'edge {name} was removed ({detail})' },
  'edge.revoke': { 'zh-CN': '节点 {name} 已吊销：{detail}', en: 'edge {name} was revoked: {detail}' },
  'edge.accept': {
    'zh-CN': '节点 {name} 保留证书 {detail} 的那一份',
    en: 'the copy of edge {name} with the certificate {detail} was accepted',
  },
  'edge.clone': { 'zh-CN': '发现节点 {name} 的副本（{detail}）', en: 'a copy of edge {name} was noticed ({detail})' },
  'edge.rejecting': {
    'zh-CN': '节点 {name} 无法应用 {count} 项配置，仍使用旧版本；其中 {resource}：{error}',
    en: 'edge {name} cannot apply {count} settings and runs earlier ones; the first is {resource}: {error}',
  },
  'edge.applying': {
    'zh-CN': '节点 {name} 已能应用全部配置',
    en: 'edge {name} applies all settings again',
  },
  'sink.failing': {
    'zh-CN': '节点 {name} 向 {sink} 发送实时日志{state}（{reason}）',
    en: 'edge {name} {state} to the sink {sink} ({reason})',
  },
  'sink.taking': {
    'zh-CN': '节点 {name} 已恢复向 {sink} 发送实时日志',
    en: 'edge {name} sends log lines to the sink {sink} again',
  },
  'origin.down': {
    'zh-CN': '域名 {name} 的源站 {origin} {state}（{edges} 个节点，如 {edge}）',
    en: 'the origin {origin} of {name} {state} (edges: {edges}, such as {edge})',
  },
  'origin.up': {
    'zh-CN': '已没有节点报告域名 {name} 的源站 {origin} 异常',
    en: 'no edge reports the origin {origin} of {name} as down any more',
  },
  'certificate.expiring': {
    'zh-CN': '证书 {id}（{names}）将在 {days} 天内到期',
    en: 'the certificate {id} for {names} ends within {days} days',
  },
  'certificate.expired': {
    'zh-CN': '证书 {id}（{names}）已过期，浏览器将拒绝访问',
    en: 'the certificate {id} for {names} has expired; browsers refuse it',
  },
  'certificate.failing': {
    'zh-CN': '域名 {name} 的证书申请未成功：{problem}（{detail}）',
    en: 'no certificate can be obtained for {name}: {problem} ({detail})',
  },
  'certificate.recovered': {
    'zh-CN': '域名 {name} 的证书申请不再失败',
    en: 'obtaining a certificate for {name} no longer fails',
  },
  'connector.unbound': {
    'zh-CN': '短信通道 {name} 未与运营商连接',
    en: 'the SMS connector {name} is not bound to its carrier',
  },
  'connector.bound': { 'zh-CN': '短信通道 {name} 已重新连接', en: 'the SMS connector {name} is bound again' },
  'connector.misconfigured': {
    'zh-CN': '短信通道 {name} 的参数有误，运营商拒绝了所有短信（{code}），通道已暂停',
    en: 'the carrier refuses every message of the SMS connector {name} for its settings ({code}); it rests',
  },
  'connector.accepting': {
    'zh-CN': '运营商已重新接收短信通道 {name} 的短信',
    en: 'the carrier accepts messages of the SMS connector {name} again',
  },
  'quota.near': {
    'zh-CN': '账户 {name} 的{quota}接近限额：{used} / {limit}',
    en: 'account {name} is near its limit of {quota}: {used} of {limit}',
  },
  'bandwidth.over': {
    'zh-CN': '账户 {name} 的带宽超过上限：{mbps} Mbit/s，上限为 {limit} Mbit/s',
    en: 'account {name} is over its bandwidth: {mbps} of {limit} Mbit/s',
  },
  'bandwidth.within': {
    'zh-CN': '账户 {name} 的带宽已回到上限以内',
    en: 'account {name} is within its bandwidth again',
  },
  'disk.nearFull': {
    'zh-CN': '{name} 的磁盘（{disk}）已使用 {percent}%',
    en: 'the disk of {name} ({disk}) is {percent} % full',
  },
  'disk.roomy': { 'zh-CN': '{name} 的磁盘（{disk}）空间已恢复', en: 'the disk of {name} ({disk}) has room again' },
  'backup.late': {
    'zh-CN': '{name} 上最近一次备份已是 {hours} 小时前',
    en: 'the newest backup on {name} is {hours} hours old',
  },
  'backup.made': { 'zh-CN': '{name} 上已有新的备份', en: 'there is a new backup on {name}' },
};

/** Words in details. */
const WORDS: Readonly<Record<string, Readonly<Record<string, Localized>>>> = {
  state: {
    down: { 'zh-CN': '无法访问', en: 'is down' },
    forbidden: { 'zh-CN': '位于节点不连接的地址', en: 'is at an address that edges do not connect to' },
    failing: { 'zh-CN': '失败，正在重试', en: 'cannot send log lines' },
    dropping: { 'zh-CN': '失败，部分记录已丢弃', en: 'dropped log lines that were to go' },
  },
  problem: REQUEST_PROBLEM_LABELS,
  disk: {
    data: { 'zh-CN': '数据目录', en: 'the data directory' },
    cache: { 'zh-CN': '缓存', en: 'the cache' },
    logs: { 'zh-CN': '日志', en: 'log files' },
  },
  quota: {
    purgeUrls: { 'zh-CN': '每日网址刷新', en: 'URL purges a day' },
    purgeDirectories: { 'zh-CN': '每日目录刷新', en: 'directory purges a day' },
    prefetchUrls: { 'zh-CN': '每日预热', en: 'prefetches a day' },
    smsBalance: { 'zh-CN': '短信余额', en: 'SMS balance' },
  },
};

export function describeEvent(
  { kind, target, data }: { readonly kind: EventKind; readonly target: EventTarget; readonly data: EventData },
  locale: Locale,
): string {
  const textOf = (word: string) => {
    if (word === 'name' || word === 'id') return target[word];
    const value = String(data[word] ?? '');
    return WORDS[word]?.[value]?.[locale] ?? value;
  };
  return EVENT_TEXTS[kind][locale].replace(/\{(\w+)\}/g, (_, word: string) => textOf(word));
}
