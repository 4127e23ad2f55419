/** Composes the submit_sm of a part. Pure. */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { PartToSubmit } from '../carrier.ts';
import { concatenationHeader } from '../text/concatenation.ts';
import type { Impossible } from '../wire/dialect.ts';
import { encodeText } from './data-coding.ts';
import type { Fields } from './layouts.ts';
import type { SmppRequest } from './request.ts';
import { sarTlvs } from './sar.ts';
import { refusalOf, STATUS } from './statuses.ts';
import { TAGS, u16Tlv } from './tlvs.ts';

/** Bit of esm_class: the text begins with a user data header. */
const HAS_HEADER = 0x40;
const ALPHANUMERIC = { ton: 5, npi: 0 };
const INTERNATIONAL = { ton: 1, npi: 1 };
const UNKNOWN = { ton: 0, npi: 0 };
/** First version with optional parameters (TLVs). */
const FIRST_WITH_TLVS = 0x34;

/** Returns the error that every carrier would return if the part cannot be sent. */
export function composeSubmit(part: PartToSubmit, settings: SmppSettings): SmppRequest | Impossible {
  if (!/^[\x20-\x7e]{0,20}$/.test(part.sender)) return refusalOf(STATUS.invalidSource);
  if (!/^\+\d{1,20}$/.test(part.destination)) return refusalOf(STATUS.invalidDestination);
  const { dataCoding, octets } = encodeText(part.text, settings.gsm7);
  const isLong = part.parts > 1;
  const hasHeader = isLong && settings.concatenation === 'udh';
  const shortMessage = hasHeader ? Buffer.concat([concatenationHeader(part), octets]) : octets;
  if (shortMessage.length > MAX_MESSAGE_OCTETS) return refusalOf(STATUS.invalidMessageLength);
  const fields = {
    serviceType: '',
    ...sourceOf(part.sender, settings),
    destAddrTon: settings.destinationType.ton,
    destAddrNpi: settings.destinationType.npi,
    destinationAddr: part.destination.slice(1),
    esmClass: hasHeader ? HAS_HEADER : 0,
    protocolId: 0,
    priorityFlag: 0,
    scheduleDeliveryTime: '',
    validityPeriod: validityOf(part.validitySeconds),
    registeredDelivery: settings.registeredDelivery,
    replaceIfPresentFlag: 0,
    dataCoding,
    smDefaultMsgId: 0,
    shortMessage,
  };
  const sar = isLong && !hasHeader ? sarTlvs(part) : [];
  const reference = u16Tlv(TAGS.userMessageReference, part.partId % 0x10000);
  const tlvs = settings.interfaceVersion < FIRST_WITH_TLVS ? sar : [reference, ...sar];
  return { kind: 'request', command: 'submitSm', fields, tlvs };
}

/** Octets of one message in a phone network, including the header; 160 septets of the GSM alphabet fit into them. */
const MAX_MESSAGE_OCTETS = 160;

function sourceOf(
  sender: string,
  { senderType }: SmppSettings,
): Pick<Fields<'submitSm'>, 'sourceAddr' | 'sourceAddrTon' | 'sourceAddrNpi'> {
  const isInternational = /^\+\d+$/.test(sender);
  const { ton, npi } = senderType ?? typeOf(sender, isInternational);
  return { sourceAddrTon: ton, sourceAddrNpi: npi, sourceAddr: isInternational ? sender.slice(1) : sender };
}

function typeOf(sender: string, isInternational: boolean): { readonly ton: number; readonly npi: number } {
  if (isInternational) return INTERNATIONAL;
  return /^\d*$/.test(sender) ? UNKNOWN : ALPHANUMERIC;
}

/**
 * Formats a relative time, with two digits each for years, months, days, hours, minutes and seconds. SMPP 3.4 §7.1.1
 */
function validityOf(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  const whole = Math.min(Math.max(1, Math.floor(seconds)), MAX_VALIDITY_SECONDS);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const day = whole % DAY_SECONDS;
  return `0000${two(whole / DAY_SECONDS)}${two(day / 3600)}${two((day % 3600) / 60)}${two(day % 60)}000R`;
}

const DAY_SECONDS = 86_400;
const MAX_VALIDITY_SECONDS = 30 * DAY_SECONDS;
