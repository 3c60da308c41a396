import type { BlockRecord, EpochMs, FactRecord, MemoryConflictRecord } from '@perdure/ports'

/** The fact as it appears in the API, in events and in agents. */
export function toFactResource(fact: FactRecord) {
  const { sourceRunId, sourceSessionId } = fact
  const hasSource = sourceRunId !== undefined || sourceSessionId !== undefined
  return {
    id: fact.id,
    namespace: fact.namespace,
    owner: fact.owner,
    text: fact.text,
    tags: fact.tags,
    metadata: fact.metadata,
    importance: fact.importance,
    source: hasSource ? { runId: sourceRunId, sessionId: sourceSessionId } : undefined,
    createdAt: toIso(fact.createdAt),
    updatedAt: toIso(fact.updatedAt),
    expiresAt: fact.expiresAt && toIso(fact.expiresAt),
  }
}

export type FactResource = ReturnType<typeof toFactResource>

export function toBlockResource({ id: _, createdAt, updatedAt, ...block }: BlockRecord) {
  return { ...block, createdAt: toIso(createdAt), updatedAt: toIso(updatedAt) }
}

export type BlockResource = ReturnType<typeof toBlockResource>

/** `facts` are the facts of the conflict that still exist. */
export function toConflictResource(conflict: MemoryConflictRecord, facts: readonly FactRecord[]) {
  const { factIds: _, createdAt, resolvedAt, ...rest } = conflict
  return {
    ...rest,
    facts: facts.map(toFactResource),
    createdAt: toIso(createdAt),
    resolvedAt: resolvedAt && toIso(resolvedAt),
  }
}

export type ConflictResource = ReturnType<typeof toConflictResource>

const toIso = (at: EpochMs) => new Date(at).toISOString()
