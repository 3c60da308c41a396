import type { EmissionPart } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type EmissionRow = RowIn<typeof EMISSIONS>

export const EMISSIONS = recordTable<EmissionPart>()({
  id: 'text',
  eventName: 'text',
  createdAt: 'bigint',
  /** JSON: `[[run id, seq], …]` */
  waits: {
    type: 'text',
    write: (waits) => JSON.stringify(waits.map(({ runId, seq }) => [runId, seq])),
    read: (text: string) => (JSON.parse(text) as [string, number][]).map(([runId, seq]) => ({ runId, seq })),
  },
  payload: 'text',
})
