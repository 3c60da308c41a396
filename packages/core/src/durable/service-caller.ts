import type { RunRecord } from '@perdure/ports'
import type { Effect } from './effect.ts'
import type { StepFn, StepOptions } from './step.ts'
import type { ToolResult } from './tool.ts'

/** The run that uses a service: whose rows it may see, and how what it does is remembered. */
export interface ServiceCaller {
  readonly run: Pick<RunRecord, 'id' | 'kind' | 'targetId' | 'sessionId' | 'owner' | 'userId'>
  readonly signal: AbortSignal
  /** For reads and for effects outside the storage: recorded like `ctx.step`. */
  step<T>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<T>
  /** As `step`, for what is the call of a tool: it counts in the budget and the metric of tools, also when it fails. */
  tool<T extends ToolResult>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<T>
  /** For effects inside the storage: written in one commit with the record of the call, so done exactly once. */
  transact<T>(name: string, decide: () => Promise<Effect<T>>): Promise<T>
}
