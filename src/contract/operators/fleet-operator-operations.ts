/** What operators do to the identities of edges: tokens, revocation, copies, the fleet's certificate authority. */
import * as z from 'zod';
import { MAX_LABELS } from '../../model/fleet.ts';
import {
  choice,
  commaList,
  FLAG_TEXT,
  flag,
  identifier,
  integer,
  matching,
  optional,
  seconds,
  text,
} from '../schema/fields.ts';
import { operation, request } from '../schema/operation.ts';
import { edgeId, groupName } from './edge-fields.ts';
import { TOKEN_ADDRESSES } from './token-fields.ts';

const MAX_VALID_SECONDS = 7 * 86_400;
const MAX_USES = 1000;
const MAX_REASON_LENGTH = 200;
const LABEL = /^[\w.-]{1,63}=[\w .:/-]{0,63}$/;
/** Also as other programs print it: in upper case, or with colons. */
const SERIAL = /^[0-9a-fA-F]{2}(?::?[0-9a-fA-F]{2}){0,19}$/;

const LABEL_LIST = commaList({
  maxEntries: MAX_LABELS,
  maxLength: 127,
  expects: {
    'zh-CN': `1 到 ${MAX_LABELS} 个标签（名称=值），用逗号分隔或为数组`,
    en: `1 to ${MAX_LABELS} labels such as rack=b7, comma-separated or an array`,
  },
  each: {
    'zh-CN': '名称=值，如 rack=b7，各至多 63 个字符',
    en: 'name=value, such as rack=b7, each of at most 63 characters',
  },
});
const labels = {
  ...LABEL_LIST,
  schema: LABEL_LIST.schema.refine((list) => list.every((label) => LABEL.test(label))).optional(),
};

const serial = matching(SERIAL, {
  'zh-CN': '证书序列号（十六进制）',
  en: 'the serial number of a certificate, hexadecimal',
});

const TOKEN = z.object({
  token_id: z.string(),
  group: z.string(),
  edge_id: z.string().describe('the only id that it enrols; empty: any'),
  labels: z.record(z.string(), z.string()),
  addresses: z.array(z.string()).describe('addresses and networks that it may be used from; empty: anywhere'),
  replace: FLAG_TEXT.describe('1: it may enrol an edge that is enrolled already'),
  uses: z.int(),
  used: z.int(),
  created_at: seconds.describe('Unix seconds'),
  expires_at: seconds.describe('Unix seconds'),
  revoked_at: seconds.describe('Unix seconds; 0: not revoked'),
});

const AUTHORITY = z.object({
  key_id: z.string().describe('its subject key identifier'),
  pin: z.string().describe('SHA-256 of its public key, base64url: the last part of its tokens'),
  certificate: z.string().describe('PEM'),
  expires_at: seconds.describe('Unix seconds'),
});

const TOKEN_SAMPLE: z.infer<typeof TOKEN> = {
  token_id: '4',
  group: 'eu',
  edge_id: 'fra1',
  labels: { rack: 'b7' },
  addresses: [],
  replace: '0',
  uses: 1,
  used: 0,
  created_at: 1_769_832_000,
  expires_at: 1_769_835_600,
  revoked_at: 0,
};

export const FLEET_OPERATOR_OPERATIONS = {
  'fleetOperator.createToken': operation({
    summary: {
      'zh-CN': '创建节点令牌，用于注册节点；令牌仅在本次响应中返回',
      en: 'Creates a token with which machines enrol as edges; only this answer shows it',
    },
    request: request({
      group: optional(groupName),
      edge_id: optional(edgeId),
      labels,
      addresses: { ...TOKEN_ADDRESSES, schema: TOKEN_ADDRESSES.schema.optional() },
      valid_seconds: optional(integer(60, MAX_VALID_SECONDS)),
      uses: optional(integer(1, MAX_USES)),
      replace: optional(flag),
    }),
    data: z.object({
      token_id: z.string(),
      edge_token: z.string(),
      expires_at: seconds.describe('Unix seconds'),
    }),
    sample: {
      request: { group: 'eu', edge_id: 'fra1', labels: ['rack=b7'], valid_seconds: 3600 },
      data: {
        token_id: '4',
        edge_token: 'cwf1.kY0n0hZ4nN0J8x0Q2t3v5w7y9A1C3E5G7I9K1M3O5Q7.2b7Qm1v9sR4tY6uI8oP0aS2dF4gH6jK8lZ0xC2vB4nM',
        expires_at: 1_769_835_600,
      },
    },
  }),
  'fleetOperator.listTokens': operation({
    summary: {
      'zh-CN': '查询节点令牌，不含令牌本身',
      en: 'Lists the tokens for edges, newest first, without the tokens themselves',
    },
    request: request({}),
    data: z.object({ list: z.array(TOKEN) }),
    sample: { request: {}, data: { list: [TOKEN_SAMPLE] } },
  }),
  'fleetOperator.revokeToken': operation({
    summary: {
      'zh-CN': '吊销节点令牌；已注册的节点不受影响',
      en: 'Revokes a token for edges; edges that were enrolled with it stay',
    },
    request: request({ token_id: identifier }),
    data: z.boolean(),
    sample: { request: { token_id: '4' }, data: true },
  }),
  'fleetOperator.addEdge': operation({
    summary: {
      'zh-CN': '添加使用运营方自有 CA 证书的节点',
      en: "Adds an edge whose certificate is of the operator's own authority",
    },
    request: request({ edge_id: edgeId, group: optional(groupName), labels }),
    data: z.boolean(),
    sample: { request: { edge_id: 'fra1', group: 'eu', labels: ['rack=b7'] }, data: true },
  }),
  'fleetOperator.revokeEdge': operation({
    summary: {
      'zh-CN': '吊销节点：立即断开其连接，并拒绝其证书',
      en: 'Revokes an edge: its connections are cut and its certificates are refused',
    },
    request: request({ edge_id: edgeId, reason: optional(text({ max: MAX_REASON_LENGTH })) }),
    data: z.boolean(),
    sample: { request: { edge_id: 'fra1', reason: 'machine lost' }, data: true },
  }),
  'fleetOperator.acceptEdge': operation({
    summary: {
      'zh-CN': '节点出现两个副本时，保留持有此证书的一个',
      en: 'Decides which of two copies of an edge goes on: the one with this certificate',
    },
    request: request({ edge_id: edgeId, serial }),
    data: z.boolean(),
    sample: { request: { edge_id: 'fra1', serial: '4f2c7a19d05e8b3361a2c4e6f8091b2d' }, data: true },
  }),
  'fleetOperator.getAuthority': operation({
    summary: {
      'zh-CN': '查询集群 ID 及其 CA 证书',
      en: "Shows the fleet's id and its certificate authorities, the one in use first",
    },
    request: request({}),
    data: z.object({ fleet: z.string(), authorities: z.array(AUTHORITY) }),
    sample: {
      request: {},
      data: {
        fleet: '1f9c04be',
        authorities: [
          {
            key_id: '5d1c0e7a9b3f2468ace013579bdf02468ace1357',
            pin: '2b7Qm1v9sR4tY6uI8oP0aS2dF4gH6jK8lZ0xC2vB4nM',
            certificate: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
            expires_at: 2_085_192_000,
          },
        ],
      },
    },
  }),
  'fleetOperator.rotateAuthority': operation({
    summary: {
      'zh-CN': '分两步更换集群 CA：begin 生成新 CA，所有节点续期后用 finish 撤下旧 CA',
      en: "Changes the fleet's certificate authority in two steps: begin makes the next one; finish withdraws the old one, once every edge has renewed",
    },
    request: request({
      step: choice(['begin', 'finish'], { 'zh-CN': 'begin 或 finish', en: 'begin or finish' }),
    }),
    data: z.object({ key_id: z.string().describe('the new authority') }),
    sample: { request: { step: 'begin' }, data: { key_id: '5d1c0e7a9b3f2468ace013579bdf02468ace1357' } },
  }),
};
