import type { EmissionPart, EpochMs, JsonText } from '@perdure/ports'

export interface EmissionRow {
  readonly id: string
  readonly event_name: string
  readonly created_at: number
  readonly waits: string // JSON: [[run id, seq], …]
  readonly payload: string
}

export const EMISSION_COLUMNS = ['id', 'event_name', 'created_at', 'waits', 'payload'] as const

export const toEmissionRow = ({ id, eventName, createdAt, waits, payload }: EmissionPart): EmissionRow => ({
  id,
  event_name: eventName,
  created_at: createdAt,
  waits: JSON.stringify(waits.map(({ runId, seq }) => [runId, seq])),
  payload,
})

export const toEmission = (row: EmissionRow): EmissionPart => ({
  id: row.id,
  eventName: row.event_name,
  createdAt: row.created_at as EpochMs,
  waits: (JSON.parse(row.waits) as [string, number][]).map(([runId, seq]) => ({ runId, seq })),
  payload: row.payload as JsonText,
})
