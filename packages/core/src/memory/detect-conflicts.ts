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
import { likeness, probeOf } from './likeness.ts'
import { conflictEvent } from './memory-events.ts'

export interface DisagreementDeps {
  readonly facts: FactStore
  readonly memoryConflicts: MemoryConflictStore
  readonly clock: Clock
  readonly ids: IdGenerator
  /** From which likeness on two facts are near-duplicates; 0 to 1. */
  readonly similarity: number
}

/** What else is decided in the same commit. */
export interface Besides {
  /** Facts that are deleted with it, and conflicts that are resolved with it. */
  readonly ignored?: ReadonlySet<string>
}

const CANDIDATES = 50
/** So that facts made from one template do not flood the list. */
const MOST_AT_ONCE = 3

/**
 * Two facts of one owner and namespace disagree when they are near-duplicates and yet do not say the same. Opens a
 * conflict with the facts that this one disagrees with from now on, the three most alike at most, and resolves those
 * that no longer hold.
 */
export async function disagreementWrites(
  deps: DisagreementDeps,
  fact: FactRecord,
  { ignored = new Set() }: Besides = {},
): Promise<readonly Write[]> {
  const found = (await disagreeingFacts(deps, fact)).filter(({ id }) => !ignored.has(id))
  const open = (await deps.memoryConflicts.listOpenByFacts([fact.id])).filter(({ id }) => !ignored.has(id))
  const known = new Map(open.map((conflict) => [partnerOf(conflict, fact.id), conflict]))
  const added = found.filter(({ id }) => !known.has(id)).slice(0, MOST_AT_ONCE)
  const standing = new Set(found.map(({ id }) => id))
  const settled = [...known].filter(([partnerId]) => !standing.has(partnerId)).map(([, conflict]) => conflict)
  return [
    ...added.flatMap((other) => openWrites(deps, fact, other)),
    ...(await settleWrites(deps, settled, 'the facts no longer disagree')),
  ]
}

/** Resolves the open conflicts of a fact that is deleted. */
export async function departureWrites(
  deps: DisagreementDeps,
  fact: FactRecord,
  { ignored = new Set() }: Besides = {},
): Promise<readonly Write[]> {
  const open = await deps.memoryConflicts.listOpenByFacts([fact.id])
  return settleWrites(
    deps,
    open.filter(({ id }) => !ignored.has(id)),
    'a fact of it was deleted',
  )
}

/** Most alike first. */
async function disagreeingFacts({ facts, clock, similarity }: DisagreementDeps, fact: FactRecord) {
  const { owner, namespace, text, fingerprint } = fact
  const filter: FactFilter = { owner, namespace, now: clock.now(), visibility: EVERY_ROW }
  const candidates = await facts.search(probeOf(text, similarity), filter, CANDIDATES)
  return candidates
    .filter((other) => other.id !== fact.id && other.fingerprint !== fingerprint)
    .map((other) => ({ other, alike: likeness(text, other.text) }))
    .filter(({ alike }) => alike >= similarity)
    .sort((a, b) => b.alike - a.alike)
    .map(({ other }) => other)
}

function openWrites({ clock, ids }: DisagreementDeps, fact: FactRecord, other: FactRecord): readonly Write[] {
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

async function settleWrites(
  { clock }: DisagreementDeps,
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
