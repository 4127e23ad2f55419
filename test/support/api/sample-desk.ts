/** What operators see at a glance, with something in every part: metrics, settings, a connector that is bound. */
import type { SmsHooks } from '#api/sms/sms-services.ts';
import { readMetricText } from '#lib/metric-text.ts';
import type { TestApiOptions } from './api.ts';

const METRICS = `causeway_part_up{part="control"} 1
causeway_part_restarts_total{part="control"} 0
causeway_feed_head_revision 71
causeway_feed_applied_revision 71
causeway_feed_connected_edges 1
causeway_feed_rejected_resources 0
causeway_log_files_waiting 0
causeway_log_files_shipped_total 12
causeway_log_lost_lines_total 0
causeway_database_bytes 1048576
causeway_certificates{ends="expired"} 0
causeway_certificates{ends="7d"} 0
causeway_certificates{ends="14d"} 1
causeway_certificates{ends="30d"} 0
causeway_certificates_expire_seconds 864000
causeway_sms_queue_parts{state="queued"} 0
causeway_sms_queue_oldest_seconds{state="queued"} 0
`;

const SMS: SmsHooks = {
  onAccepted: () => undefined,
  onConnectorsChanged: async () => undefined,
  connectors: () => [{ connectorId: 1, control: '', state: 'bound', sendsSince: 1, rate: 0, inFlight: 0 }],
};

export const DESK_OPTIONS: TestApiOptions = {
  readMetrics: async () => ({ at: 1, samples: readMetricText(METRICS, () => true) }),
  settings: [{ name: 'data-dir', value: './data', source: 'default' }],
  sms: SMS,
};
