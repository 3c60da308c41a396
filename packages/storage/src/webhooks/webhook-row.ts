import type { EpochMs, WebhookRecord } from '@perdure/ports'

export interface WebhookRow {
  readonly id: string
  readonly version: number
  readonly created_at: number
  readonly definition: string // JSON of all other fields
}

export const WEBHOOK_COLUMNS = ['id', 'version', 'created_at', 'definition'] as const

/** `definition` holds all fields without a column of their own. */
export function toWebhookRow({ id, version, createdAt, ...definition }: WebhookRecord): WebhookRow {
  return { id, version, created_at: createdAt, definition: JSON.stringify(definition) }
}

export const toWebhook = (row: WebhookRow): WebhookRecord => ({
  ...JSON.parse(row.definition),
  id: row.id,
  version: row.version,
  createdAt: row.created_at as EpochMs,
})
