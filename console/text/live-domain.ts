/** Texts of the operator's page of a live domain: its keys, and its broadcasts. */
import { both, type SettingWords, words } from '#contract/changes/setting-words.ts';

const en = {
  back: 'Live streams',
  unknown: 'There is no such domain',
  unknownHelp: 'It was deleted, or its name is mistyped.',
  account: (id: string) => `Account ${id}`,
  forbidTitle: 'Forbid a stream',
  forbidAsk: 'Forbid a stream…',
  forbidden: 'Nobody can publish it',
  keys: 'Keys',
  keysHelp:
    'Both keys of a kind are accepted, and new addresses are made with the primary one. Whoever has a key for publishing can publish.',
  show: 'Show keys',
  kinds: { publish: 'Publishing', play: 'Playing' },
  primary: 'primary',
  secondary: 'secondary',
  copyOf: (kind: string, which: string) => `${kind}, ${which}`,
  noKey: {
    publish: 'No key: nobody can publish where a key is required.',
    play: 'No key: everybody can play.',
  },
  acts: (kind: string) => `Change keys: ${kind}`,
  rotate: 'Replace key…',
  rotateTitle: { publish: 'A new key for publishing', play: 'A new key for playing' },
  rotateHelp:
    'The key of now becomes the secondary one, so addresses made with it go on working. A secondary one is dropped.',
  rotateFirst: {
    publish: 'From then on an address for publishing is signed with it.',
    play: 'From then on only viewers with a key can play.',
  },
  rotateAction: 'Replace key',
  drop: 'Drop secondary key',
  dropTitle: { publish: 'Drop the secondary key for publishing?', play: 'Drop the secondary key for playing?' },
  dropHelp: 'Addresses made with it no longer work. Streams on air continue.',
  clear: 'Remove all keys',
  clearTitle: { publish: 'Remove all keys for publishing?', play: 'Remove all keys for playing?' },
  clearHelp: {
    publish: 'Where a key is required, nobody can publish until a new one is made. Streams on air continue.',
    play: 'Everybody can play the streams of the domain.',
  },
  changed: 'The keys are changed',
  publisher: 'Publisher or origin',
  edge: 'Edge',
};

const zh: typeof en = {
  back: '全部直播流',
  unknown: '没有这个域名',
  unknownHelp: '域名已被删除，或名称有误。',
  account: (id) => `账户 ${id}`,
  forbidTitle: '禁播直播流',
  forbidAsk: '禁播直播流…',
  forbidden: '该直播流已禁播',
  keys: '密钥',
  keysHelp: '同类的两个密钥均有效，新地址使用主密钥生成。持有推流密钥者均可推流。',
  show: '显示密钥',
  kinds: { publish: '推流', play: '播放' },
  primary: '主密钥',
  secondary: '备用密钥',
  copyOf: (kind, which) => `${kind}${which}`,
  noKey: { publish: '没有密钥：要求推流鉴权时无法推流。', play: '没有密钥：任何人均可播放。' },
  acts: (kind) => `修改${kind}密钥`,
  rotate: '更换密钥…',
  rotateTitle: { publish: '更换推流密钥', play: '更换播放密钥' },
  rotateHelp: '现有主密钥将成为备用密钥，用它生成的地址仍然有效；原备用密钥失效。',
  rotateFirst: { publish: '此后推流地址以该密钥签名。', play: '此后仅持有密钥的观看者可以播放。' },
  rotateAction: '更换密钥',
  drop: '删除备用密钥',
  dropTitle: { publish: '删除推流备用密钥？', play: '删除播放备用密钥？' },
  dropHelp: '用它生成的地址将失效，正在进行的直播不受影响。',
  clear: '删除全部密钥',
  clearTitle: { publish: '删除全部推流密钥？', play: '删除全部播放密钥？' },
  clearHelp: {
    publish: '要求推流鉴权时，在生成新密钥之前无法推流；正在进行的直播不受影响。',
    play: '任何人均可播放该域名的直播流。',
  },
  changed: '密钥已修改',
  publisher: '推流端或源站',
  edge: '节点',
};

export const liveDomainText = { en, 'zh-CN': zh };

export const NEW_KEY_WORDS = {
  key: words(
    '新密钥',
    'New key',
    '为空则自动生成；可填写其他服务的密钥，以便沿用其地址。',
    'Empty: one is made. That of another service lets its addresses work here.',
  ),
} satisfies Readonly<Record<string, SettingWords>>;

export const FORBID_WORDS = {
  app_name: words('应用（app）', 'App'),
  stream_name: words('流名称', 'Name of the stream'),
  resume_at: {
    ...words('禁播时长', 'For how long'),
    values: {
      '': both('手动恢复为止', 'Until it is resumed'),
      '3600': both('1 小时', 'An hour'),
      '86400': both('1 天', 'A day'),
    },
  },
} satisfies Readonly<Record<string, SettingWords>>;
