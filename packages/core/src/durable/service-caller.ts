import type { RunRecord } from '@perdure/ports'
import type { Effect } from './effect.ts'
import type { StepFn, StepOptions } from './step.ts'
import type { ToolResult } from './tool.ts'

/**
 * The run that uses a service. It determines which rows the service may see, and its durable calls record the results.
 */
export interface ServiceCaller {
  readonly run: Pick<RunRecord, 'id' | 'kind' | 'targetId' | 'sessionId' | 'owner' | 'userId'>
  readonly signal: AbortSignal
  /** For reads and for effects outside the storage; recorded like `ctx.step`. */
  step<T>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<T>
  /** Like `step`, but for a tool call, which counts in the budget and in the tool metrics even when it fails. */
  tool<T extends ToolResult>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<T>
  /** For effects inside the storage: committed together with the record of the call, so they happen exactly once. */
  transact<T>(name: string, decide: () => Promise<Effect<T>>): Promise<T>
}
