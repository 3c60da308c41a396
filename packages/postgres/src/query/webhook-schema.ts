import type { DeliveryStatus } from '@perdure/ports'

export interface WebhookTable {
  readonly id: string
  readonly version: number
  readonly created_at: number
  readonly definition: string // JSON of all other fields
}

export interface DeliveryTable {
  readonly id: string
  readonly webhook_id: string
  readonly type: string
  readonly position: number
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly earlier_attempts: number
  readonly due_at: number
  readonly lease: string | null
  readonly response_status: number | null
  readonly error: string | null
  readonly ended_at: number | null
  readonly created_at: number
}
