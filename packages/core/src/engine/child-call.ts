import type { RunRecord, StepRecord } from '@perdure/ports'
import type { CallScope } from '../durable/call-scope.ts'
import { passBudget } from '../durable/usage/budget-gate.ts'
import { callWait } from '../durable/wait-call.ts'
import { childEvent, lifecycleEvent } from '../runs/run-events.ts'
import { insertRun } from '../targets/insert-run.ts'
import type { Invocable } from '../targets/invocable.ts'
import type { RunTargets } from '../targets/run-target.ts'
import { checkedInput, childOf, invokedTarget } from './new-child.ts'
import { keepShownFiles } from './run-file-writes.ts'

export interface CallChildDeps {
  readonly targets: RunTargets
  /** Executes a run whose record is committed as queued. */
  readonly relaunch: (run: RunRecord) => void
}

/** `ctx.invoke`. Resolves with the record of the parent's call once the child has ended. */
export type CallChild = (scope: CallScope, invoked: string | Invocable, input: unknown) => Promise<StepRecord>

/** Runs an agent or workflow as a child. One commit stores the child and the parent's wait; the end of the child ends the wait. */
export function createCallChild({ targets, relaunch }: CallChildDeps): CallChild {
  return async (scope, invoked, input) => {
    const { run, budget, ledger } = scope
    // The target is checked first, so that a rejected call takes no sequence number.
    const target = invokedTarget({ call: 'ctx.invoke', targets, run }, invoked)
    const parsing = checkedInput({ call: 'ctx.invoke', scope, target }, input)
    const parsed = parsing instanceof Promise ? await ledger.busy(() => parsing) : parsing
    const waiting = passBudget(scope, false)
    if (waiting !== undefined) await waiting
    const ended = await callWait(scope, { kind: 'child', name: target.id }, (seq) => {
      const child = childOf(scope, target, { seq, ...parsed })
      return {
        detail: { childRunId: child.id },
        writes: [insertRun(targets, child), ...keepShownFiles(child.id, child)],
        events: [
          lifecycleEvent(child, 'run.queued', { at: child.createdAt }),
          childEvent(run, 'run.child.started', { child, at: child.createdAt }),
        ],
        onRecorded: () => {
          relaunch(child)
          if (child.deadlineAt !== undefined) scope.onDue(child.deadlineAt)
        },
      }
    })
    budget.checkChild(ended)
    return ended
  }
}
