import {
  AppError,
  EVERY_ROW,
  type FactRecord,
  type MemoryConflictRecord,
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
  /** Ids of the facts that stay: one, or both. */
  readonly keep: readonly string[]
  /** What the one fact that stays says from now on: a merge of both. */
  readonly text?: string | undefined
  readonly reason?: string | undefined
  readonly by: string // subject of who decides
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
}

/**
 * Decides a conflict between two facts: the first decision wins. The same decision again is the same answer.
 *
 * @throws AppError `memory-conflict-not-found`, `memory-conflict-resolved` when it was decided differently,
 *   `validation-failed` for a fact that is not part of it
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
  if (conflict === undefined) throw new AppError('memory-conflict-not-found')
  checkKeep(request, conflict)
  const facts = await factsOfConflict(deps, conflict)
  if (conflict.status === 'resolved') return answerResolved(request, conflict, facts)

  const resolvedAt = deps.clock.now()
  const resolution = { resolvedAt, by: request.by, reason: request.reason }
  const resolved = { ...conflict, ...resolution, status: 'resolved' } as const
  const { kept, writes } = await settle(deps, request, facts)
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

/** The facts that stay, as they will be, and what is written for it. */
async function settle(
  deps: FactDecisionsDeps,
  { conflictId, keep, text }: ResolveMemoryConflictRequest,
  facts: readonly FactRecord[],
): Promise<{ readonly kept: readonly FactRecord[]; readonly writes: readonly Write[] }> {
  const missing = keep.find((id) => !facts.some((fact) => fact.id === id))
  if (missing !== undefined) {
    throw new AppError('validation-failed', {
      message: `keep: the fact ${missing} has expired`,
      hint: 'keep the other one',
    })
  }
  const dropped = facts.filter(({ id }) => !keep.includes(id))
  const besides = { ignored: new Set([conflictId, ...dropped.map(({ id }) => id)]) }
  const deletions = await Promise.all(dropped.map((fact) => decideFactDeletion(deps, fact, besides)))
  const kept = facts.filter(({ id }) => keep.includes(id))
  const [only] = kept
  if (text === undefined || only === undefined) return { kept, writes: deletions.flat() }
  const tags = [...new Set(facts.flatMap((fact) => fact.tags))]
  const importance = Math.max(...facts.map((fact) => fact.importance))
  const merged = await decideFactChange(deps, only, { text, tags, importance, besides })
  return { kept: [merged.fact], writes: [...deletions.flat(), ...merged.writes] }
}

/** Those that are still there. */
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
  const hint = `the facts of this conflict are ${factIds.join(' and ')}`
  if (foreign !== undefined) {
    throw new AppError('validation-failed', { message: `keep: ${foreign} is no fact of this conflict`, hint })
  }
  if (text !== undefined && new Set(keep).size > 1) {
    throw new AppError('validation-failed', {
      message: 'text: goes with one fact that stays',
      hint: 'keep one of them',
    })
  }
}

/** The same decision is one that would leave the facts that are there. */
function answerResolved(
  { keep, text }: ResolveMemoryConflictRequest,
  conflict: MemoryConflictRecord,
  facts: readonly FactRecord[],
): Decision {
  const isSame =
    facts.length === new Set(keep).size &&
    facts.every((fact) => keep.includes(fact.id) && (text === undefined || fact.text === text))
  if (!isSame) throw new AppError('memory-conflict-resolved')
  return { writes: [], reply: { status: 200, body: toConflictResource(conflict, facts) }, remember: true }
}
