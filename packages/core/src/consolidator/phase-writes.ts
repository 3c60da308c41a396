import { AppError, type ConsolidationJob, type PhaseResult, type Write } from '@perdure/ports'
import {
  decideFactChange,
  decideFactDeletion,
  decideNewFact,
  type FactDecisionsDeps,
} from '../memory/fact-decisions.ts'

/**
 * What a phase has decided, as writes. Each fact, and each conflict between facts, is touched once.
 *
 * @throws AppError `validation-failed` for a fact that is refused
 */
export async function phaseWrites(
  deps: FactDecisionsDeps,
  { owner, sessionId, now }: Pick<ConsolidationJob, 'owner' | 'sessionId' | 'now'>,
  { remember = [], revise = [], forget = [], weigh = [] }: PhaseResult,
): Promise<readonly Write[]> {
  const touched = new Set(forget.map(({ id }) => id))
  const besides = { ignored: touched }
  const writes: Write[] = []
  const take = (more: readonly Write[]) => {
    writes.push(...more)
    for (const write of more) if (write.type === 'conflict.resolve') touched.add(write.id)
  }

  for (const fact of forget) take(await decideFactDeletion(deps, fact, besides))
  for (const { fact, change } of revise) {
    take((await decideFactChange(deps, fact, { ...change, besides })).writes)
    touched.add(fact.id)
  }
  for (const found of remember) {
    if (owner === undefined) throw new AppError('validation-failed', { message: 'a job of no owner finds no facts' })
    take((await decideNewFact(deps, found, { owner, sessionId, besides })).writes)
  }
  for (const { fact, importance } of weigh) {
    writes.push({ type: 'fact.weigh', id: fact.id, revision: fact.revision, importance, at: now })
  }
  return writes
}

/** How many facts the result is about. */
export const changesIn = ({ remember = [], revise = [], forget = [], weigh = [] }: PhaseResult): number =>
  remember.length + revise.length + forget.length + weigh.length
