import type { JobPhase, MemoryConflictRecord } from '@perdure/ports'
import type { Generated } from 'kysely'

export interface FactTable {
  readonly key: Generated<number>
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly importance: number
  readonly weighed_at: number
  readonly fingerprint: string
  readonly source_run_id: string | null
  readonly source_session_id: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
  readonly revision: number
  readonly embedded_by: string | null // the embedder that processed the fact, even if it produced no vector
  readonly tags: readonly string[]
  readonly metadata: string
  readonly words: readonly string[]
  readonly text: string
}

export interface BlockTable {
  readonly id: string
  readonly owner: string
  readonly namespace: string
  readonly label: string
  readonly limit: number
  readonly created_at: number
  readonly updated_at: number
  readonly value: string
}

export interface MemoryConflictTable {
  readonly id: string
  readonly namespace: string
  readonly owner: string
  readonly fact_id: string
  readonly other_fact_id: string
  readonly status: MemoryConflictRecord['status']
  readonly created_at: number
  readonly resolved_at: number | null
  readonly by: string | null
  readonly reason: string | null
}

export interface JobTable {
  readonly id: string
  readonly job_key: string
  readonly phase: JobPhase
  readonly owner: string | null
  readonly session_id: string | null
  readonly attempts: number
  readonly due_at: number
  readonly lease: string | null
  readonly is_again: number
  readonly error: string | null
  readonly created_at: number
  readonly failed_at: number | null
}
