import type { RunBudget, RunKind, RunRecord } from '@perdure/ports'
import type { RetryPolicy } from '../durable/retry-policy.ts'
import type { Returned } from './agent.ts'
import type { Concurrency, DebounceRule, RateRule } from './flow-control.ts'
import type { OnBusy, OnBusyWaiting, ProtocolOptions, RegistrationOptions, RunOnCrash } from './registration.ts'
import type { RunContext } from './run-context.ts'
import type { ScoringOptions } from './scoring-options.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

/** A registered agent or workflow with all defaults filled in. */
export interface RunTarget {
  readonly kind: RunKind
  readonly id: string
  readonly version?: string
  readonly description: string
  readonly input?: StandardSchemaV1
  readonly output?: StandardSchemaV1
  readonly concurrency: Concurrency
  readonly onBusy: OnBusy
  /** What a request may choose instead of `onBusy`. */
  readonly onBusyChoices: readonly OnBusy[]
  readonly onBusyWaiting: OnBusyWaiting
  readonly rateLimit?: RateRule
  readonly debounce?: DebounceRule
  readonly onCrash: RunOnCrash
  readonly effects?: 'none'
  readonly recoveries: number
  readonly retries: RetryPolicy
  readonly timeoutMs?: number
  readonly stallTimeoutMs: number
  readonly budget?: RunBudget
  readonly tags: readonly string[]
  readonly protocols?: false | ProtocolOptions
  readonly fromChat?: RegistrationOptions['fromChat']
  readonly scoring?: Required<Pick<ScoringOptions, 'use' | 'sample'>>
  call(input: unknown, context: RunContext): Returned<unknown>
}

/** The registered agents and workflows. */
export interface RunTargets {
  /**
   * The default version, or the given version.
   *
   * @throws PerdureError `agent-not-found`, `workflow-not-found` or `version-unknown`
   */
  get(kind: RunKind, id: string, version?: string): RunTarget
  /** The default version. */
  find(kind: RunKind, id: string): RunTarget | undefined
  /**
   * The code that the run executes: that of its own version. A run without a version executes the registration without
   * a version or, if there is none, the default.
   */
  ofRun(run: Pick<RunRecord, 'kind' | 'targetId' | 'version'>): RunTarget | undefined
}
