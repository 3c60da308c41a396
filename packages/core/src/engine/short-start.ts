import { perdureError, type UnitOfWork, type Write, type YieldTurn } from '@perdure/ports'
import type { RunOutcome } from '../runs/run-outcome.ts'
import type { RunWaiters } from '../runs/run-waiters.ts'
import type { RunTarget } from '../targets/run-target.ts'
import { holdStart } from './held-start.ts'
import type { StartDecision } from './plan-start.ts'
import type { Runner } from './runner.ts'
import type { StartRunRequest } from './start-request.ts'

export interface ShortStartDeps {
  readonly unitOfWork: UnitOfWork
  readonly runner: Pick<Runner, 'launch' | 'abort'>
  readonly runWaiters: Pick<RunWaiters, 'wait' | 'reject'>
  readonly yieldTurn: YieldTurn
  /** Whether other processes write to the storage at the same time; false when missing. */
  readonly isStorageShared?: boolean | undefined
}

/**
 * Whether the code may execute before the start of its run is committed: an execution that the storage then does not know
 * of has done no harm, and nobody knows the run before it is stored. Unless it has no effects, the code must not execute for a
 * key that is used: the key is claimed in this process, so no other process may write to the storage.
 */
function mayExecuteFirst(
  { isStorageShared = false }: Pick<ShortStartDeps, 'isStorageShared'>,
  { answer, origin, seed, key }: StartRunRequest,
  { kind, onCrash, effects }: RunTarget,
): boolean {
  const isHarmless = kind === 'agent' && (onCrash === 'retry' || effects === 'none')
  const isPlain = answer === 'outcome' && origin === undefined && seed === undefined
  if (!isHarmless || !isPlain) return false
  if (key === undefined) return true
  const claimsMore = key.claim !== undefined || key.includes !== undefined
  return !claimsMore && (!isStorageShared || effects === 'none')
}

/**
 * Whether the key is claimed and looked up before the code executes. Without effects, it does not matter that the code executes
 * for a repeated key: the commit detects the key.
 */
export const mustClaimKey = (
  deps: Pick<ShortStartDeps, 'isStorageShared'>,
  request: StartRunRequest,
  target: RunTarget,
): boolean => target.effects !== 'none' && mayExecuteFirst(deps, request, target)

/** Writes that the storage accepts unless the key of the request is taken. Limits, lanes and sessions can refuse a start. */
const CERTAIN: ReadonlySet<Write['type']> = new Set(['run.insert', 'event.append'])

interface Starting {
  readonly request: StartRunRequest
  readonly target: RunTarget
}

/** Lets the code of the decided run execute while its start is held, if nothing but a repeated key can refuse the start. */
export function withShortStart(
  deps: ShortStartDeps,
  { request, target }: Starting,
  decision: StartDecision,
): StartDecision {
  const { run, slot, toInterrupt } = decision.claimed
  const isCertain = decision.writes.every(({ type }) => CERTAIN.has(type))
  if (run.status !== 'running' || toInterrupt.length > 0 || !isCertain) return decision
  if (!mayExecuteFirst(deps, request, target)) return decision

  const { runner, runWaiters } = deps
  let outcome: Promise<RunOutcome> | undefined
  const giveUp = () => {
    runWaiters.reject(run.id, perdureError('run-not-found'))
    runner.abort(run.id, 'aborted')
  }
  return {
    ...decision,
    commit(writes) {
      const start = holdStart(deps.unitOfWork, writes)
      outcome = runWaiters.wait(run.id, { isPatient: request.waitMs !== undefined })
      outcome.catch(() => undefined)
      start.outcome.then(({ committed }) => committed || giveUp(), giveUp)
      runner.launch({ run, target, slot, start })
      void deps.yieldTurn().then(start.seal)
      return start.outcome
    },
    launched: () => outcome,
    discard: () => void (outcome ?? slot.release()),
  }
}
