import type { FireRecord } from '@perdure/ports'
import { type RowIn, recordTable } from '../query/record-table.ts'

export type FireRow = RowIn<typeof FIRES>

export const FIRES = recordTable<FireRecord>()({
  id: 'text',
  triggerId: 'text',
  scheduledAt: 'bigint',
  cause: 'text',
  status: 'text',
  input: 'text',
  sessionId: 'text',
  firedAt: 'bigint',
  runId: 'text',
  reason: 'text',
  createdAt: 'bigint',
})
