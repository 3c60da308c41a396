import type { FactRecord } from '@perdure/ports'
import { JSON_TEXT, type RowIn, recordTable } from '../query/record-table.ts'

export type FactRow = RowIn<typeof FACTS>

export const FACTS = recordTable<FactRecord>()({
  id: 'text',
  owner: 'text',
  createdAt: 'bigint',
  namespace: 'text',
  importance: 'double precision',
  weighedAt: 'bigint',
  fingerprint: 'text',
  sourceRunId: 'text',
  sourceSessionId: 'text',
  updatedAt: 'bigint',
  expiresAt: 'bigint',
  revision: 'integer',
  /** SQLite: a JSON array */
  tags: {
    type: 'text',
    write: (tags): string | readonly string[] => tags,
    read: (tags: string | readonly string[]) => (typeof tags === 'string' ? JSON.parse(tags) : tags),
  },
  metadata: JSON_TEXT,
  text: 'text',
})

export const CHANGING_FACT_COLUMNS = FACTS.columns.filter(
  (column) => column !== 'id' && column !== 'owner' && column !== 'created_at',
)
