import type { EpochMs, FactRecord } from '@perdure/ports'
import type { Selectable } from 'kysely'
import type { FactTable } from '../query/memory-schema.ts'
import { indexedWords } from './indexed-words.ts'

export type FactRow = Selectable<FactTable>
export type NewFactRow = Omit<FactTable, 'key' | 'embedded_by'>

export const CHANGING_FACT_COLUMNS = [
  'namespace',
  'importance',
  'weighed_at',
  'fingerprint',
  'source_run_id',
  'source_session_id',
  'updated_at',
  'expires_at',
  'revision',
  'tags',
  'metadata',
  'words',
  'text',
] as const

export const FACT_COLUMNS = ['id', 'owner', 'created_at', ...CHANGING_FACT_COLUMNS] as const

export const toFactRow = (fact: FactRecord): NewFactRow => ({
  id: fact.id,
  namespace: fact.namespace,
  owner: fact.owner,
  importance: fact.importance,
  weighed_at: fact.weighedAt,
  fingerprint: fact.fingerprint,
  source_run_id: fact.sourceRunId ?? null,
  source_session_id: fact.sourceSessionId ?? null,
  created_at: fact.createdAt,
  updated_at: fact.updatedAt,
  expires_at: fact.expiresAt ?? null,
  revision: fact.revision,
  tags: fact.tags,
  metadata: JSON.stringify(fact.metadata),
  words: indexedWords(fact.text),
  text: fact.text,
})

export const toFact = (row: FactRow): FactRecord => ({
  id: row.id,
  namespace: row.namespace,
  owner: row.owner,
  text: row.text,
  tags: row.tags,
  metadata: JSON.parse(row.metadata),
  importance: row.importance,
  weighedAt: row.weighed_at as EpochMs,
  fingerprint: row.fingerprint,
  sourceRunId: row.source_run_id ?? undefined,
  sourceSessionId: row.source_session_id ?? undefined,
  createdAt: row.created_at as EpochMs,
  updatedAt: row.updated_at as EpochMs,
  expiresAt: (row.expires_at ?? undefined) as EpochMs | undefined,
  revision: row.revision,
})
