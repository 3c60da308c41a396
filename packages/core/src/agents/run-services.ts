import type { RunRecord } from '@berth/ports'
import type { RunMemory } from '../memory/run-memory.ts'
import type { Effect } from '../steps/effect.ts'
import type { StepFn, StepOptions } from '../steps/step.ts'

/** The rest of the server as the code of a run sees it; each member is made for the run by its own group. */
export interface RunServices {
  readonly memory: RunMemory
}

/** The run that uses a service: whose rows it may see, and how what it does is remembered. */
export interface ServiceCaller {
  readonly run: Pick<RunRecord, 'id' | 'kind' | 'targetId' | 'sessionId' | 'owner' | 'userId'>
  readonly signal: AbortSignal
  /** For reads and for effects outside the storage: recorded like `ctx.step`. */
  step<T>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<T>
  /** For effects inside the storage: written in one commit with the record of the call, so done exactly once. */
  transact<T>(name: string, decide: () => Promise<Effect<T>>): Promise<T>
}

export type CreateRunServices = (caller: ServiceCaller) => RunServices
