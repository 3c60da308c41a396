import type { EpochMs } from './clock.ts'

/** A secret that signs deliveries: a secret reference of the configuration, or a generated secret that is sealed. */
export interface WebhookSecret {
  readonly ref?: string | undefined
  readonly sealed?: string | undefined
  readonly expiresAt?: EpochMs | undefined // a replaced secret signs until this instant
}

/** An endpoint outside the server to which events are delivered, with its progress in the event log. */
export interface WebhookRecord {
  readonly id: string
  readonly url: string
  readonly events: readonly string[] // event types, or patterns such as `run.*`
  readonly targets?: readonly string[] | undefined // agents and workflows; when missing, all
  readonly owner?: string | undefined // owner of the rows whose events it receives; when missing, every owner
  readonly source: 'code' | 'api'
  readonly secrets: readonly WebhookSecret[] // newest first
  /** Events of the log up to here have a delivery, or need none. */
  readonly position: number
  readonly disabledAt?: EpochMs | undefined
  readonly disabledReason?: string | undefined
  readonly undeclaredAt?: EpochMs | undefined // since when no living process declares this one of the configuration
  readonly superseded?: readonly string[] | undefined // fingerprints of its earlier declarations, newest last
  readonly createdBy: string // subject that may manage it with a grant for its own endpoints
  /** The token whose rights it uses, or a token that this one replaced; without one, its rights do not end. */
  readonly createdByToken?: string | undefined
  readonly version: number // from 1, incremented by every change
  readonly createdAt: EpochMs
}

/** Port. Reads webhooks; every write goes through `UnitOfWork`. Must pass `webhookStoreContract`. */
export interface WebhookStore {
  find(id: string): Promise<WebhookRecord | undefined>
  /** Lists all webhooks, ordered by id in code-unit order. */
  list(): Promise<readonly WebhookRecord[]>
}
