import type { EpochMs, FireStatus, TriggerRecord, TriggerRule } from '@perdure/ports'
import type { TriggerKind } from '@perdure/protocol'

export interface TriggerRow {
  readonly id: string
  readonly kind: TriggerKind
  readonly event: string | null // of the kind webhook: the hook
  readonly is_active: 0 | 1 // enabled and not orphaned
  readonly due_at: number | null
  readonly last_fire_id: string | null
  readonly last_status: FireStatus | null
  readonly version: number
  readonly created_at: number
  readonly definition: string // JSON of all other fields
}

export const CHANGING_TRIGGER_COLUMNS = [
  'kind',
  'event',
  'is_active',
  'due_at',
  'last_fire_id',
  'last_status',
  'version',
  'definition',
] as const

export const TRIGGER_COLUMNS = ['id', ...CHANGING_TRIGGER_COLUMNS, 'created_at'] as const

/** Sets the columns that queries use; `definition` holds all other fields. */
export function toTriggerRow(trigger: TriggerRecord): TriggerRow {
  const { id, kind, dueAt, lastFireId, lastStatus, version, createdAt, ...definition } = trigger
  return {
    id,
    kind,
    event: sourceOf(trigger),
    is_active: trigger.enabled && trigger.orphanedAt === undefined ? 1 : 0,
    due_at: dueAt ?? null,
    last_fire_id: lastFireId ?? null,
    last_status: lastStatus ?? null,
    version,
    created_at: createdAt,
    definition: JSON.stringify({ ...definition, event: undefined }),
  }
}

/** The event or the hook by which its fires are found. */
function sourceOf(trigger: TriggerRule): string | null {
  if (trigger.kind === 'event') return trigger.event
  return trigger.kind === 'webhook' ? trigger.hook : null
}

export const toTrigger = (row: TriggerRow): TriggerRecord => ({
  ...JSON.parse(row.definition),
  id: row.id,
  kind: row.kind,
  ...(row.kind === 'event' ? { event: row.event } : {}),
  dueAt: (row.due_at ?? undefined) as EpochMs | undefined,
  lastFireId: row.last_fire_id ?? undefined,
  lastStatus: row.last_status ?? undefined,
  version: row.version,
  createdAt: row.created_at as EpochMs,
})
