import type { JobRecord } from '@perdure/ports'
import { JSON_TEXT, type RowIn, recordTable } from '../query/record-table.ts'

export type JobRow = RowIn<typeof JOBS>

export const JOBS = recordTable<JobRecord>()({
  id: 'text',
  key: { type: 'text', name: 'job_key' },
  phase: 'text',
  owner: 'text',
  sessionId: 'text',
  attempts: 'integer',
  dueAt: 'bigint',
  lease: 'text',
  runAgain: {
    type: 'integer',
    name: 'is_again',
    write: (again) => (again ? 1 : 0),
    read: (again: number) => again === 1,
  },
  error: JSON_TEXT,
  createdAt: 'bigint',
  failedAt: 'bigint',
})
