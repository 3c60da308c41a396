import {
  type Clock,
  EVERY_ROW,
  type FactFilter,
  type FactRecord,
  type FactStore,
  type IdGenerator,
  type MemoryConflictRecord,
  type MemoryConflictStore,
  type Write,
} from '@perdure/ports'
import { conflictEvent } from './memory-events.ts'
import { candidateQueryOf, similarityOf } from './text-similarity.ts'

export interface ConflictDetectionDeps {
  readonly facts: FactStore
  readonly memoryConflicts: MemoryConflictStore
  readonly clock: Clock
  readonly ids: IdGenerator
  /** Facts whose similarity is at least this are near-duplicates; from 0 to 1. */
  readonly similarity: number
}

/** Other changes in the same commit. */
export interface SameCommit {
  /** Ids of the facts that the commit deletes and of the conflicts that it resolves. */
  readonly ignored?: ReadonlySet<string>
}

const CANDIDATES = 50
/** Per write. Otherwise, many similar facts that follow one template would flood the list of conflicts. */
const MAX_NEW_CONFLICTS = 3

/**
 * Two facts of the same owner and namespace conflict when they are near-duplicates with different statements. Opens at
 * most three conflicts between the given fact and the facts most similar to it, and resolves open conflicts of the
 * given fact that no longer apply.
 */
export async function conflictWrites(
  deps: ConflictDetectionDeps,
  fact: FactRecord,
  { ignored = new Set() }: SameCommit = {},
): Promise<readonly Write[]> {
  const conflicting = (await conflictingFacts(deps, fact)).filter(({ id }) => !ignored.has(id))
  const open = (await deps.memoryConflicts.listOpenByFacts([fact.id])).filter(({ id }) => !ignored.has(id))
  const openByPartner = new Map(open.map((conflict) => [partnerOf(conflict, fact.id), conflict]))
  const added = conflicting.filter(({ id }) => !openByPartner.has(id)).slice(0, MAX_NEW_CONFLICTS)
  const conflictingIds = new Set(conflicting.map(({ id }) => id))
  const obsolete = [...openByPartner]
    .filter(([partnerId]) => !conflictingIds.has(partnerId))
    .map(([, conflict]) => conflict)
  return [
    ...added.flatMap((other) => openConflictWrites(deps, fact, other)),
    ...(await resolveConflictWrites(deps, obsolete, 'the facts no longer conflict')),
  ]
}

/** Resolves the open conflicts of a fact that is deleted. */
export async function conflictWritesOfDeletion(
  deps: ConflictDetectionDeps,
  fact: FactRecord,
  { ignored = new Set() }: SameCommit = {},
): Promise<readonly Write[]> {
  const open = await deps.memoryConflicts.listOpenByFacts([fact.id])
  return resolveConflictWrites(
    deps,
    open.filter(({ id }) => !ignored.has(id)),
    'one of the facts was deleted',
  )
}

/** Most similar first. */
async function conflictingFacts({ facts, clock, similarity }: ConflictDetectionDeps, fact: FactRecord) {
  const { owner, namespace, text, fingerprint } = fact
  const filter: FactFilter = { owner, namespace, now: clock.now(), visibility: EVERY_ROW }
  const candidates = await facts.search(candidateQueryOf(text, similarity), filter, CANDIDATES)
  return candidates
    .filter((other) => other.id !== fact.id && other.fingerprint !== fingerprint)
    .map((other) => ({ other, score: similarityOf(text, other.text) }))
    .filter(({ score }) => score >= similarity)
    .sort((a, b) => b.score - a.score)
    .map(({ other }) => other)
}

function openConflictWrites(
  { clock, ids }: ConflictDetectionDeps,
  fact: FactRecord,
  other: FactRecord,
): readonly Write[] {
  const [older, newer] = isOlder(other, fact) ? [other, fact] : [fact, other]
  const conflict: MemoryConflictRecord = {
    id: ids.newId('conflict'),
    namespace: fact.namespace,
    owner: fact.owner,
    factIds: [older.id, newer.id],
    status: 'open',
    createdAt: clock.now(),
  }
  return [{ type: 'conflict.open', conflict }, conflictEvent(conflict, [older, newer], conflict.createdAt)]
}

async function resolveConflictWrites(
  { clock }: ConflictDetectionDeps,
  conflicts: readonly MemoryConflictRecord[],
  reason: string,
): Promise<readonly Write[]> {
  const resolution = { resolvedAt: clock.now(), reason }
  return conflicts.flatMap((conflict): Write[] => [
    { type: 'conflict.resolve', id: conflict.id, resolution },
    conflictEvent({ ...conflict, ...resolution, status: 'resolved' }, [], resolution.resolvedAt),
  ])
}

const partnerOf = ({ factIds: [one, other] }: MemoryConflictRecord, factId: string) => (one === factId ? other : one)

const isOlder = (a: FactRecord, b: FactRecord) =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id)
