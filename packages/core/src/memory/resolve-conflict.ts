import {
  EVERY_ROW,
  type FactRecord,
  type MemoryConflictRecord,
  perdureError,
  type Visibility,
  type Write,
} from '@perdure/ports'
import { type CommitOnceDeps, commitOnce, type Decision } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../idempotency/reply.ts'
import { decideFactChange, decideFactDeletion, type FactDecisionsDeps } from './fact-decisions.ts'
import { conflictEvent } from './memory-events.ts'
import { toConflictResource } from './memory-resources.ts'

export interface ResolveMemoryConflictRequest {
  readonly conflictId: string
  /** Ids of the facts to keep: one or both. */
  readonly keep: readonly string[]
  /** The new text of the kept fact, for example a merge of both texts. Allowed only if one fact is kept. */
  readonly text?: string | undefined
  readonly reason?: string | undefined
  readonly by: string // subject of the caller
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

/**
 * Resolves a conflict between two facts. The first decision wins; repeating that decision returns the same answer.
 *
 * @throws PerdureError `memory-conflict-not-found`, `memory-conflict-resolved` if it was resolved differently,
 *   `validation-failed` for a fact that is not part of the conflict
 */
export type ResolveMemoryConflict = (request: ResolveMemoryConflictRequest) => Promise<Reply>

export function createResolveMemoryConflict(deps: FactDecisionsDeps & CommitOnceDeps): ResolveMemoryConflict {
  return async (request) => {
    const once = await commitOnce(deps, request.key, () => decide(deps, request))
    return once.kind === 'replayed' ? once.reply : once.decision.reply
  }
}

async function decide(deps: FactDecisionsDeps, request: ResolveMemoryConflictRequest): Promise<Decision> {
  const conflict = await deps.memoryConflicts.find(request.conflictId, request.visibility)
  if (conflict === undefined) throw perdureError('memory-conflict-not-found')
  checkKeep(request, conflict)
  const facts = await factsOfConflict(deps, conflict)
  if (conflict.status === 'resolved') return answerResolved(request, conflict, facts)

  const resolvedAt = deps.clock.now()
  const resolution = { resolvedAt, by: request.by, reason: request.reason }
  const resolved = { ...conflict, ...resolution, status: 'resolved' } as const
  const { kept, writes } = await applyResolution(deps, request, facts)
  return {
    writes: [
      { type: 'conflict.resolve', id: conflict.id, resolution },
      ...writes,
      conflictEvent(resolved, kept, resolvedAt),
    ],
    reply: { status: 200, body: toConflictResource(resolved, kept) },
    remember: true,
  }
}

/** The kept facts after the resolution, and the writes that change and delete facts. */
async function applyResolution(
  deps: FactDecisionsDeps,
  { conflictId, keep, text }: ResolveMemoryConflictRequest,
  facts: readonly FactRecord[],
): Promise<{ readonly kept: readonly FactRecord[]; readonly writes: readonly Write[] }> {
  const expired = keep.find((id) => !facts.some((fact) => fact.id === id))
  if (expired !== undefined) {
    throw perdureError('validation-failed', {
      message: `keep: the fact ${expired} has expired`,
      hint: 'keep the other fact',
    })
  }
  const discarded = facts.filter(({ id }) => !keep.includes(id))
  const sameCommit = { ignored: new Set([conflictId, ...discarded.map(({ id }) => id)]) }
  const deletions = await Promise.all(discarded.map((fact) => decideFactDeletion(deps, fact, sameCommit)))
  const kept = facts.filter(({ id }) => keep.includes(id))
  const [only] = kept
  if (text === undefined || only === undefined) return { kept, writes: deletions.flat() }
  const tags = [...new Set(facts.flatMap((fact) => fact.tags))]
  const importance = Math.max(...facts.map((fact) => fact.importance))
  const merged = await decideFactChange(deps, only, { text, tags, importance, sameCommit })
  return { kept: [merged.fact], writes: [...deletions.flat(), ...merged.writes] }
}

/** The facts of the conflict that still exist. */
export async function factsOfConflict(
  { facts, clock }: Pick<FactDecisionsDeps, 'facts' | 'clock'>,
  { factIds }: MemoryConflictRecord,
): Promise<readonly FactRecord[]> {
  const now = clock.now()
  const found = await Promise.all(factIds.map((id) => facts.find(id, { now, visibility: EVERY_ROW })))
  return found.filter((fact) => fact !== undefined)
}

function checkKeep({ keep, text }: ResolveMemoryConflictRequest, { factIds }: MemoryConflictRecord): void {
  const foreign = keep.find((id) => !factIds.includes(id))
  const hint = `use ${factIds.join(' or ')}, the facts of this conflict`
  if (foreign !== undefined) {
    throw perdureError('validation-failed', { message: `keep: ${foreign} is not a fact of this conflict`, hint })
  }
  if (text !== undefined && new Set(keep).size > 1) {
    throw perdureError('validation-failed', {
      message: 'text: is allowed only when one fact is kept',
      hint: 'name one fact in keep, or omit text',
    })
  }
}

/** A decision is the same as the earlier decision if it would result in the facts that exist now. */
function answerResolved(
  { keep, text }: ResolveMemoryConflictRequest,
  conflict: MemoryConflictRecord,
  facts: readonly FactRecord[],
): Decision {
  const isSameDecision =
    facts.length === new Set(keep).size &&
    facts.every((fact) => keep.includes(fact.id) && (text === undefined || fact.text === text))
  if (!isSameDecision) throw perdureError('memory-conflict-resolved')
  return { writes: [], reply: { status: 200, body: toConflictResource(conflict, facts) }, remember: true }
}
