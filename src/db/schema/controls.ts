/** Tables of controls that share the database. */

import type { Generated } from 'kysely';

export interface ControlTables {
  lease: {
    name: string;
    /** Id of the control that holds it, or held it last. */
    holder: string;
    /** End of the lease by the database's clock. */
    until: number;
  };
  /** One row for each control that uses the database, or has used it until it ended without a word. */
  control: {
    /** Random; of a service, so a process that is started again keeps it. */
    id: string;
    started_at: number;
    /** When it was last seen, by the database's clock. */
    seen_at: number;
    /** JSON: `ControlFacts`. */
    facts: string;
    /** JSON: a list of the ids of SMS connectors that this control can send by. */
    connectors_up: string;
    /** JSON: `ConnectorReport` of each connector that it has opened. */
    connectors: Generated<string>;
  };
}
