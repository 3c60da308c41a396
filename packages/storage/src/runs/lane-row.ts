import type { TakenSlot } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type LaneRow = RowIn<typeof LANES>

export const LANES = recordTable<TakenSlot>()({ lane: 'text', slot: 'integer', runId: 'text', freeAt: 'bigint' })
