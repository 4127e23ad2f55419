/** A carrier that does what a test says: it notes what it is given, and answers when and how it is told. */
import type { ConnectorSettings } from '#model/sms-connector.ts';
import type {
  Carrier,
  CarrierEvents,
  CarrierState,
  ConnectCarrier,
  PartToSubmit,
  SubmitOutcome,
} from '#sms/carrier.ts';

export type Answer = (part: PartToSubmit, n: number) => SubmitOutcome | Promise<SubmitOutcome>;

export class ScriptedCarrier implements Carrier {
  state: CarrierState = 'bound';
  readonly isReceiving = true;
  readonly inFlight = 0;
  wholeMessages = false;
  window = 10;
  answer: Answer = (_part, n) => accepted(`id-${n}`);
  readonly submitted: PartToSubmit[] = [];
  /** Events of the connector that has it now. */
  events: CarrierEvents | undefined;
  #underWay = 0;

  get room(): number {
    return this.state === 'bound' ? this.window - this.#underWay : 0;
  }

  async submit(part: PartToSubmit): Promise<SubmitOutcome> {
    if (this.room <= 0) return { kind: 'unsent', reason: 'noRoom' };
    this.submitted.push(part);
    this.#underWay += 1;
    try {
      return await this.answer(part, this.submitted.length);
    } finally {
      this.#underWay -= 1;
      this.events?.roomFreed();
    }
  }

  move(state: CarrierState): void {
    this.state = state;
    this.events?.stateChanged(state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.state = 'closed';
  }
}

export function accepted(carrierId: string): SubmitOutcome {
  return { kind: 'accepted', carrierId, keys: [carrierId] };
}

/** Connectors by the system id in their settings; the others are refused. */
export function connectScripted(
  carriers: Readonly<Record<string, ScriptedCarrier>>,
): ConnectCarrier<ConnectorSettings> {
  return (settings, events) => {
    const carrier = settings.kind === 'smpp' ? carriers[settings.systemId] : undefined;
    if (carrier === undefined) throw new Error('not a carrier of this test');
    carrier.events = events;
    return carrier;
  };
}
