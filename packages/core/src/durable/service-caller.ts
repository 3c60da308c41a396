import type { NewEvent, RunRecord } from '@perdure/ports'
import type { Effect } from './effect.ts'
import type { StepFn, StepOptions } from './step.ts'
import type { ToolResult } from './tool.ts'

/** A message that would have started a run of its own. */
export interface TakenMessage {
  /** The run that the message would have started. */
  readonly from: string
  /** The input of that run. */
  readonly content: unknown
  readonly createdAt: string
}

/** @param steeringOnly whether to take only the messages that were sent to steer the run */
export type TakeMessages = (steeringOnly: boolean) => Promise<readonly TakenMessage[]>

/**
 * The run that uses a service. It determines which rows the service may see, and its durable calls record the results.
 */
export interface ServiceCaller {
  /** Takes the messages that wait for the session of the run. */
  readonly takeMessages: TakeMessages
  readonly run: Pick<RunRecord, 'id' | 'kind' | 'targetId' | 'sessionId' | 'owner' | 'userId'>
  readonly signal: AbortSignal
  /**
   * For reads and for effects outside the storage; recorded like `ctx.step`.
   *
   * @param said events that the commit of the result stores, given the number of the call
   */
  step<T>(
    name: string,
    fn: StepFn<T>,
    options?: StepOptions,
    said?: (step: { readonly seq: number }) => readonly NewEvent[],
  ): Promise<T>
  /** Like `step`, but for a tool call, which counts in the budget and in the tool metrics even when it fails. */
  tool<T extends ToolResult>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<T>
  /** For effects inside the storage: committed together with the record of the call, so they happen exactly once. */
  transact<T>(name: string, decide: () => Promise<Effect<T>>): Promise<T>
}
