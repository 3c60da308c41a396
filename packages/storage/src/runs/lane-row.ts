import type { EpochMs, LaneSlot, TakenSlot } from '@perdure/ports'

export interface LaneRow {
  readonly lane: string
  readonly slot: number
  readonly run_id: string
  readonly free_at: number | null
}

export const toLaneRow = ({ lane, slot, freeAt }: LaneSlot, runId: string): LaneRow => ({
  lane,
  slot,
  run_id: runId,
  free_at: freeAt ?? null,
})

export const toTakenSlot = (row: LaneRow): TakenSlot => ({
  lane: row.lane,
  slot: row.slot,
  runId: row.run_id,
  freeAt: (row.free_at ?? undefined) as EpochMs | undefined,
})
