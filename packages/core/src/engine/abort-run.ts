import { perdureError, type RunStore } from '@perdure/ports'
import { isTerminal } from '@perdure/protocol'
import { type CommitOnceDeps, commitOnce } from '../idempotency/commit-once.ts'
import type { AbortRun } from '../runs/abort-request.ts'
import { findRunToChange } from '../runs/find-run-to-change.ts'
import { outcomeReply } from '../runs/run-outcome.ts'
import { announce, type EndRunDeps, planEnd } from './end-run.ts'
import type { Runner } from './runner.ts'

export interface AbortRunDeps extends CommitOnceDeps, EndRunDeps {
  readonly runs: RunStore
  readonly runner: Runner
}

export function createAbortRun(deps: AbortRunDeps): AbortRun {
  const { runner, basePath } = deps

  return async ({ reason, key, via, ...asked }) => {
    const once = await commitOnce(deps, key, async () => {
      const run = await findRunToChange(deps, asked)
      if (run.status === 'aborted')
        return { writes: [], reply: outcomeReply(run, basePath), remember: true, ended: undefined }
      if (isTerminal(run.status)) throw perdureError('run-not-active', { message: `the run is ${run.status}` })
      const plan = planEnd(deps, run, {
        status: 'aborted',
        finishReason: 'aborted',
        reason: reason ?? 'aborted',
        via,
      })
      return { writes: plan.writes, reply: outcomeReply(plan.ended, basePath), remember: true, ended: plan.ended }
    })
    if (once.kind === 'replayed') return once.reply
    const { ended } = once.decision
    if (ended !== undefined) {
      announce(deps, ended)
      runner.abort(asked.runId, 'aborted')
    }
    return once.decision.reply
  }
}
