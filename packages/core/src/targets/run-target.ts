import type { RunBudget, RunKind } from '@perdure/ports'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { AgentEvent, Concurrency, OnBusy, Recovery, RunContext } from './agent.ts'

/** Something that runs are made of: a registered agent or workflow with every default filled in. */
export interface RunTarget {
  readonly kind: RunKind
  readonly id: string
  readonly description: string
  readonly input?: StandardSchemaV1
  readonly concurrency: Concurrency
  readonly onBusy: OnBusy
  readonly recovery: Recovery
  readonly maxAttempts: number
  readonly timeoutMs?: number
  readonly budget?: RunBudget
  readonly tags: readonly string[]
  call(input: unknown, context: RunContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

/** What is registered, by kind and id. */
export interface RunTargets {
  /** @throws AppError `agent-not-found` or `workflow-not-found` */
  get(kind: RunKind, id: string): RunTarget
  find(kind: RunKind, id: string): RunTarget | undefined
}
