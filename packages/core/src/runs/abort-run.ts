import { AppError, type RunStore, type StepStore } from '@perdure/ports'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { KeyedRequest } from '../idempotency/keyed-request.ts'
import type { Reply } from '../reply.ts'
import { usageWithChildren } from './budget.ts'
import { announce, type EndPlan, type EndRunDeps, planEnd } from './end-run.ts'
import { findRunToChange, type RunToChange } from './find-run-to-change.ts'
import { outcomeReply } from './run-outcome.ts'
import { isTerminal } from './run-states.ts'
import type { Runner } from './runner.ts'

export interface AbortRunDeps extends CommitOnceDeps, EndRunDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly runner: Runner
}

export interface AbortRunRequest extends RunToChange {
  readonly reason?: string | undefined
  readonly key?: KeyedRequest | undefined
}

/**
 * Ends a run now: it is `aborted` once this resolves, and whatever its code still does is dropped. An aborted run
 * answers the same again.
 *
 * @throws AppError `run-not-found`; `scope-denied`; `run-not-active` when it has completed or failed
 */
export type AbortRun = (request: AbortRunRequest) => Promise<Reply>

export function createAbortRun(deps: AbortRunDeps): AbortRun {
  const { runner, basePath } = deps

  return async ({ reason, key, ...asked }) => {
    let plan: EndPlan | undefined
    const once = await commitOnce(deps, key, async () => {
      const run = await findRunToChange(deps, asked)
      plan = undefined
      if (run.status === 'aborted') return { writes: [], reply: outcomeReply(run, basePath), remember: true }
      if (isTerminal(run.status)) throw new AppError('run-not-active', { message: `the run is ${run.status}` })
      const used = await usageWithChildren(deps, run)
      plan = planEnd(deps, run, { status: 'aborted', finishReason: 'aborted', reason: reason ?? 'aborted', ...used })
      return { writes: plan.writes, reply: outcomeReply(plan.ended, basePath), remember: true }
    })
    if (once.kind === 'replayed') return once.reply
    if (plan !== undefined) {
      announce(deps, plan.ended)
      runner.abort(asked.runId, 'aborted')
    }
    return once.decision.reply
  }
}
