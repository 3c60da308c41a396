import type { OperationTable } from '../operation.ts'

/** Mounted when `metrics.enabled` is true. */
export const metricOperations = {
  getMetrics: {
    id: 'metrics.get',
    method: 'GET',
    path: '/metrics',
    scope: { scope: 'admin:metrics:read', whenConfig: 'metrics.requireAuth' },
    describesProcess: true,
    idempotent: false,
    responses: { 200: { stream: 'text', description: 'The text exposition format, version 0.0.4.' } },
    errors: [],
    summary: 'Scrape metrics.',
  },
} as const satisfies OperationTable
