import type { BlockRecord, FactRecord, MemoryConflictRecord, NewJob } from '@perdure/ports'
import { BUILT_AT } from './builders.ts'

/** A fact of `alice`; only its required fields are set. Its fingerprint is derived from its text. */
export const aFact = (over: Partial<FactRecord> = {}): FactRecord => ({
  id: 'mem_00000000000000000000000001',
  namespace: 'default',
  owner: 'alice',
  text: 'the harbour opens at six',
  tags: [],
  metadata: {},
  importance: 0.5,
  weighedAt: BUILT_AT,
  fingerprint: `fingerprint of ${over.text ?? 'the harbour opens at six'}`,
  createdAt: BUILT_AT,
  updatedAt: BUILT_AT,
  revision: 1,
  ...over,
})

/** The block `persona` of `alice`. */
export const aBlock = (over: Partial<BlockRecord> = {}): BlockRecord => ({
  id: 'blk_00000000000000000000000001',
  owner: 'alice',
  namespace: 'default',
  label: 'persona',
  value: 'Calm and brief.',
  limit: 2_000,
  createdAt: BUILT_AT,
  updatedAt: BUILT_AT,
  ...over,
})

/** An open conflict between two facts of `alice`. */
export const aMemoryConflict = (over: Partial<MemoryConflictRecord> = {}): MemoryConflictRecord => ({
  id: 'cfl_00000000000000000000000001',
  namespace: 'default',
  owner: 'alice',
  factIds: ['mem-older', 'mem-newer'],
  status: 'open',
  createdAt: BUILT_AT,
  ...over,
})

/** A job to merge the facts of `alice`, due immediately; its key is derived from its id. */
export const aJob = (over: Partial<NewJob> = {}): NewJob => ({
  id: 'job_00000000000000000000000001',
  key: `key of ${over.id ?? 'job_00000000000000000000000001'}`,
  phase: 'merge',
  owner: 'alice',
  createdAt: BUILT_AT,
  dueAt: BUILT_AT,
  ...over,
})
