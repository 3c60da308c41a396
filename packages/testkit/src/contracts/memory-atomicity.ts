import { type Conflict, EVERY_ROW, type Storage, type Write } from '@perdure/ports'
import { aBlock, aFact, aJob, aMemoryConflict } from '../memory-builders.ts'
import { commit } from './commits.ts'
import { at } from './optional-fields.ts'

type TypesOf<W extends { readonly type: string }, Prefix extends string> = Extract<W['type'], `${Prefix}.${string}`>
type MemoryPrefix = 'fact' | 'block' | 'conflict' | 'job' | 'consolidation'

const FACT = aFact({ id: 'mem-1' })
const ALL = { now: at(0), visibility: EVERY_ROW } as const
const PAGE = { limit: 200, order: 'asc' } as const
const SESSION_ID = 'ses-1'

export const seedMemory = (storage: Storage) =>
  commit(
    storage,
    { type: 'fact.insert', fact: FACT },
    { type: 'fact.insert', fact: aFact({ id: 'mem-2' }) },
    { type: 'fact.insert', fact: aFact({ id: 'mem-3' }) },
    { type: 'fact.insert', fact: aFact({ id: 'mem-4' }) },
    { type: 'fact.embed', id: 'mem-4', revision: 1, embedder: 'old', vector: [1] },
    { type: 'block.put', block: aBlock({ label: 'deleted', id: 'blk-0' }) },
    { type: 'conflict.open', conflict: aMemoryConflict({ id: 'cfl-1' }) },
    { type: 'job.enqueue', job: aJob({ id: 'taken' }) },
    { type: 'job.claim', id: 'taken', lease: 'lease', now: at(0), until: at(9) },
    { type: 'job.enqueue', job: aJob({ id: 'failing' }) },
    { type: 'job.claim', id: 'failing', lease: 'lease', now: at(0), until: at(9) },
    { type: 'job.enqueue', job: aJob({ id: 'waiting' }) },
    { type: 'job.enqueue', job: aJob({ id: 'dead' }) },
    { type: 'job.claim', id: 'dead', lease: 'lease', now: at(0), until: at(9) },
    { type: 'job.fail', id: 'dead', lease: 'lease', now: at(0), attempts: 5 },
  )

/** One write of every type. Each succeeds after the seed and has a visible effect. */
export const MEMORY_CHANGES: { readonly [T in TypesOf<Write, MemoryPrefix>]: Extract<Write, { readonly type: T }> } = {
  'fact.insert': { type: 'fact.insert', fact: aFact({ id: 'mem-5', expiresAt: at(1) }) },
  'fact.replace': { type: 'fact.replace', fact: aFact({ id: 'mem-1', text: 'gulls', revision: 2 }) },
  'fact.delete': { type: 'fact.delete', id: 'mem-2', revision: 1 },
  'fact.weigh': { type: 'fact.weigh', id: 'mem-3', revision: 1, importance: 0.1, at: at(1) },
  'fact.embed': { type: 'fact.embed', id: 'mem-3', revision: 1, embedder: 'new', vector: [1] },
  'fact.keep-vectors': { type: 'fact.keep-vectors', embedder: 'new' },
  'block.put': { type: 'block.put', block: aBlock() },
  'block.delete': { type: 'block.delete', ref: aBlock({ label: 'deleted' }) },
  'conflict.open': { type: 'conflict.open', conflict: aMemoryConflict({ id: 'cfl-2', factIds: ['x', 'y'] }) },
  'conflict.resolve': { type: 'conflict.resolve', id: 'cfl-1', resolution: { resolvedAt: at(1), by: 'bob' } },
  'job.enqueue': { type: 'job.enqueue', job: aJob({ id: 'new' }) },
  'job.claim': { type: 'job.claim', id: 'waiting', lease: 'lease', now: at(0), until: at(9) },
  'job.complete': { type: 'job.complete', id: 'taken', lease: 'lease', now: at(1), runAgain: false },
  'job.fail': { type: 'job.fail', id: 'failing', lease: 'lease', now: at(1), attempts: 1, dueAt: at(5) },
  'job.retry': { type: 'job.retry', id: 'dead', now: at(1) },
  'consolidation.seen': { type: 'consolidation.seen', sessionId: SESSION_ID, changedAt: at(99) },
  'consolidation.extracted': { type: 'consolidation.extracted', sessionId: SESSION_ID, throughSeq: 3 },
  'consolidation.spend': { type: 'consolidation.spend', day: '2025-01-01', spend: { tokens: 1, costUsd: 0.5 } },
}

/** One write of every type that can conflict. Each conflicts after the seed, with or without the changes in between. */
export const MEMORY_CONFLICTS: {
  readonly [T in TypesOf<Conflict, MemoryPrefix>]: Extract<Write, { readonly type: T }>
} = {
  'fact.insert': { type: 'fact.insert', fact: FACT },
  'fact.replace': { type: 'fact.replace', fact: aFact({ id: 'mem-1', revision: 9 }) },
  'fact.delete': { type: 'fact.delete', id: 'mem-1', revision: 9 },
  'block.put': { type: 'block.put', block: aBlock({ label: 'unknown' }), from: at(1) },
  'block.delete': { type: 'block.delete', ref: aBlock({ label: 'unknown' }) },
  'conflict.open': { type: 'conflict.open', conflict: aMemoryConflict({ id: 'cfl-1', factIds: ['v', 'w'] }) },
  'conflict.resolve': { type: 'conflict.resolve', id: 'unknown', resolution: { resolvedAt: at(1) } },
  'job.claim': { type: 'job.claim', id: 'unknown', lease: 'lease', now: at(0), until: at(9) },
  'job.complete': { type: 'job.complete', id: 'taken', lease: 'other', now: at(1), runAgain: false },
  'job.fail': { type: 'job.fail', id: 'failing', lease: 'other', now: at(1), attempts: 1 },
  'job.retry': { type: 'job.retry', id: 'waiting', now: at(1) },
}

/** Everything that the ports return about the rows that the seed and the changes touch. */
export async function memorySnapshot(storage: Storage) {
  const { facts, factUpkeep, blocks, memoryConflicts, jobs, consolidation } = storage
  const near = (embedder: string) => facts.nearest({ vector: [1], embedder, candidates: 9 }, ALL, 9)
  return {
    facts: await facts.list(ALL, PAGE),
    found: await Promise.all(['harbour', 'gulls'].map((text) => facts.search(text, ALL, 9))),
    near: await Promise.all(['old', 'new'].map(near)),
    unembedded: await factUpkeep.unembedded(9),
    expired: await factUpkeep.expired({ now: at(1) }, 9),
    blocks: await blocks.list(undefined, PAGE, EVERY_ROW),
    conflicts: await memoryConflicts.list(undefined, PAGE, EVERY_ROW),
    open: await memoryConflicts.listOpenByFacts(['mem-older', 'x']),
    jobs: await Promise.all(['taken', 'failing', 'waiting', 'dead', 'new'].map((id) => jobs.find(id))),
    dead: await jobs.deadLetters(PAGE),
    idle: await consolidation.idleSessions(at(99), 9),
    extracted: await consolidation.extractedThrough(SESSION_ID),
    spent: await consolidation.spentOn('2025-01-01'),
  }
}
