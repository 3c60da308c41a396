import { type ConsolidationJob, type PhaseResult, perdureError, type Write } from '@perdure/ports'
import {
  decideFactChange,
  decideFactDeletion,
  decideNewFact,
  type FactDecisionsDeps,
} from '../memory/fact-decisions.ts'

/**
 * The writes for the result of a phase. Each fact and each conflict is changed at most once.
 *
 * @throws PerdureError `validation-failed` if a fact is rejected
 */
export async function phaseWrites(
  deps: FactDecisionsDeps,
  { owner, sessionId, now }: Pick<ConsolidationJob, 'owner' | 'sessionId' | 'now'>,
  { remember = [], revise = [], forget = [], weigh = [] }: PhaseResult,
): Promise<readonly Write[]> {
  const touched = new Set(forget.map(({ id }) => id))
  const sameCommit = { ignored: touched }
  const writes: Write[] = []
  const add = (more: readonly Write[]) => {
    writes.push(...more)
    for (const write of more) if (write.type === 'conflict.resolve') touched.add(write.id)
  }

  for (const fact of forget) add(await decideFactDeletion(deps, fact, sameCommit))
  for (const { fact, change } of revise) {
    add((await decideFactChange(deps, fact, { ...change, sameCommit })).writes)
    touched.add(fact.id)
  }
  for (const input of remember) {
    if (owner === undefined) throw perdureError('validation-failed', { message: 'remember: the job has no owner' })
    add((await decideNewFact(deps, input, { owner, sessionId, sameCommit })).writes)
  }
  for (const { fact, importance } of weigh) {
    writes.push({ type: 'fact.weigh', id: fact.id, revision: fact.revision, importance, at: now })
  }
  return writes
}

/** How many facts the result changes. */
export const countChanges = ({ remember = [], revise = [], forget = [], weigh = [] }: PhaseResult): number =>
  remember.length + revise.length + forget.length + weigh.length
