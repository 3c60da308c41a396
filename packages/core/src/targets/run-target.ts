import type { RunBudget, RunKind } from '@perdure/ports'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { AgentEvent } from './agent.ts'
import type { Concurrency, OnBusy, Recovery } from './registration.ts'
import type { RunContext } from './run-context.ts'

/** A registered agent or workflow with all defaults filled in. */
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

/** The registered agents and workflows. */
export interface RunTargets {
  /** @throws AppError `agent-not-found` or `workflow-not-found` */
  get(kind: RunKind, id: string): RunTarget
  find(kind: RunKind, id: string): RunTarget | undefined
}
