/** The errors of a domain's protection: part of the table in `errors.ts`. */
import { refusal } from './error-row.ts';

export const PROTECTION_ERRORS = {
  addressListNotFound: refusal('地址列表 {list} 不存在', 'address list {list} does not exist'),
  addressListLimit: refusal('地址列表已达上限 {limit}', 'the account has reached its limit of {limit} address lists'),
  addressListInUse: refusal(
    '地址列表 {list} 正被域名 {domains} 使用，不能删除',
    'address list {list} is used by {domains} and cannot be deleted',
  ),
  domainHasAddressLists: refusal(
    '域名 {domainId} 使用了其账号的地址列表，应先取消使用',
    "domain {domainId} uses its account's address lists, which do not move with it: take them off it first",
  ),
  domainSignsUrls: refusal(
    '域名 {domainId} 使用其账号的密钥签名网址，应先关闭网址签名',
    "domain {domainId} has URLs signed with its account's keys: turn that off first",
  ),
};
