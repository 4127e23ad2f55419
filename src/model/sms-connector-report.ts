/** How a connector that a control has opened is now. docs/decisions/0681 */

export interface ConnectorReport {
  readonly connectorId: number;
  /** `paused`: the carrier is throttling, or the connector rests. */
  readonly state: 'connecting' | 'bound' | 'paused' | 'closed';
  /** Instants since which this control can send by it, and receive, epoch milliseconds; absent: it cannot. */
  readonly sendsSince?: number;
  readonly receivesSince?: number;
  /** Parts sent a second of late. */
  readonly rate: number;
  /** Parts without an answer yet. */
  readonly inFlight: number;
  /** The carrier's code if it refuses everything for the settings of the connector. docs/decisions/0751 */
  readonly misconfigured?: string;
}
