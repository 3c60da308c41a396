import { executingRun, type RunContext } from '@perdure/core'

/** The run whose calls are recorded. */
export interface Run {
  readonly ctx: RunContext
  /** Whether the caller is code of a step or tool. That is recorded as a whole, so its own calls are not. */
  readonly isInsideCall: boolean
}

/** @throws Error outside of every run */
export type FindRun = () => Run

/** Finds the run with this context or, without one, the run of the caller. */
export function findRunOf(given: RunContext | undefined): FindRun {
  return () => {
    const executing = executingRun()
    const ctx = given ?? (executing?.context as RunContext | undefined)
    if (ctx === undefined) throw new Error(OUTSIDE)
    return { ctx, isInsideCall: executing?.call?.runId === ctx.runId }
  }
}

/** The abort reasons after which a run is not executed again. */
const FINAL: ReadonlySet<unknown> = new Set(['aborted', 'timeout', 'budget-exhausted'])

/** Whether the run was aborted and has ended, unlike one that another server or a later execution continues. */
export const hasEnded = ({ signal }: RunContext): boolean => FINAL.has(signal.reason)

const OUTSIDE =
  'durable(): no run is executing here. Call it from the code of an agent or a workflow, or pass the run context: durable(ctx)'
