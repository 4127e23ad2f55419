/** Metrics of the streams that sessions play through control. */
import type { Registry } from 'prom-client';
import { metricsOf } from '#lib/metrics.ts';
import type { Previews } from './previews.ts';

export function addPreviewMetrics(registry: Registry, previews: Pick<Previews, 'size'>): void {
  metricsOf(registry).gauge(
    'causeway_api_previews',
    'Live streams that sessions of the console play through this control',
    () => previews.size,
  );
}
