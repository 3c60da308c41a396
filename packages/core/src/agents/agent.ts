import type { EventPhase, Logger } from '@berth/ports'
import type { StandardSchemaV1 } from '@standard-schema/spec'

export interface EmitOptions {
  /** `commentary` marks text that delivery sanitizes. */
  readonly phase?: EventPhase
}

/** What a run knows of itself and may do. */
export interface AgentContext {
  readonly runId: string
  readonly agentId: string
  readonly sessionId: string | undefined
  readonly userId: string | undefined
  /** From 1; grows when a crash makes the run start again. */
  readonly attempt: number
  /** W3C trace context of the request that started the run. */
  readonly traceparent: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  /** Aborts on cancel, time-out and shutdown; its `reason` is `'aborted'`, `'timeout'` or `'shutdown'`. */
  readonly signal: AbortSignal
  /**
   * Appends an event to the run's log. Resolves when it is durable; need not be awaited.
   *
   * @throws AppError `validation-failed` for a reserved or malformed type or a payload over the limit;
   *   `run-not-active` once the run has ended.
   */
  emit(type: string, payload: unknown, options?: EmitOptions): Promise<void>
  readonly log: Logger
}

/** What a generator agent yields in place of calling `emit`. */
export interface AgentEvent {
  readonly type: string
  readonly payload?: unknown
  readonly phase?: EventPhase
}

/** Anything with an id and a `run`; its result must be JSON. */
export interface Agent {
  readonly id: string
  run(input: unknown, context: AgentContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

export type Concurrency = 'parallel' | 'single' | 'session'
export type OnBusy = 'reject' | 'queue' | 'interrupt'
export type Recovery = 'fail' | 'resume'

/** How an agent is registered; every missing field has the default of the reference docs. */
export interface AgentRegistration {
  readonly id: string
  readonly description: string
  readonly agent: Agent
  /** Checked before a run exists; a mismatch is `invalid-input`. */
  readonly input?: StandardSchemaV1
  readonly concurrency?: Concurrency
  readonly onBusy?: OnBusy
  readonly recovery?: Recovery
  readonly maxAttempts?: number
  readonly timeoutMs?: number
  readonly tags?: readonly string[]
}
