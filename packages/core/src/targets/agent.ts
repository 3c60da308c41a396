import type { EventPhase, Logger, RunBudget } from '@perdure/ports'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ApprovalDecision, ApprovalOptions } from '../durable/approval-options.ts'
import type { StepFn, StepOptions } from '../durable/step.ts'
import type { SuspendRequest, Suspension } from '../durable/suspension.ts'
import type { ToolCall, ToolOutcome } from '../durable/tool.ts'
import type { UsageReport } from '../durable/usage-report.ts'
import type { RunServices } from './run-services.ts'

export interface EmitOptions {
  /** `commentary` marks text that delivery sanitizes. */
  readonly phase?: EventPhase
}

/** What a run that has suspended itself finds when it goes on. */
export interface Resume {
  readonly state: unknown
  readonly approvals: readonly ({ readonly id: string; readonly name: string } & ApprovalDecision)[]
  readonly payload: unknown
}

/**
 * What a run knows of itself and may do. The durable calls (`step`, `sleep`, `waitForEvent`, `approval`, `tool`,
 * `agents.run`) are remembered by their place in the order of calls: code that is executed again, after a wait or a
 * crash, must make the same calls in the same order. While all of its code waits, a run is suspended and holds no
 * memory; other asynchronous work at the side of a wait belongs into a step.
 */
export interface RunContext extends RunServices {
  readonly runId: string
  readonly agentId: string | undefined
  readonly workflowId: string | undefined
  readonly threadId: string | undefined
  readonly sessionId: string | undefined
  /**
   * On whose behalf it runs, verified: the subject of the token that started it, or of who made its trigger; a child has that of
   * its parent. Decide by this one who may do what.
   */
  readonly owner: string
  /** As the body of the request says, which nobody has verified: whoever may start the run may write anything here. */
  readonly userId: string | undefined
  /** From 1; grows when a crash or a restart makes the run start again. */
  readonly attempt: number
  /** W3C trace context of the request that started the run. */
  readonly traceparent: string | undefined
  /** As the body of the request says, unverified like `userId`. */
  readonly metadata: Readonly<Record<string, string>>
  /** Aborts on cancel, time-out and shutdown; its `reason` is `'aborted'`, `'timeout'`, `'shutdown'` or `'budget-exhausted'`. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Set when the run goes on after `suspend`. */
  readonly resume: Resume | undefined
  /**
   * Appends an event to the run's log. Resolves when it is durable; need not be awaited.
   *
   * @throws AppError `validation-failed` for a reserved or malformed type or a payload over the limit;
   *   `run-not-active` once the run has ended.
   */
  emit(type: string, payload: unknown, options?: EmitOptions): Promise<void>
  /**
   * Does a piece of work once: its JSON result is stored, and a re-execution gets it without calling `fn`.
   *
   * @throws AppError `step-failed` when its tries are used up or it may not be repeated after a crash
   */
  step<T>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<T>
  /** Waits, durably, for a number of milliseconds or until a moment. */
  sleep(name: string, until: number | Date): Promise<void>
  /**
   * Waits, durably, for a named event; resolves with its payload, or `null` when it does not come in time. `Payload` is what
   * the code takes it for; nothing checks it.
   */
  waitForEvent<Payload = unknown>(name: string, options?: { readonly timeoutMs?: number }): Promise<Payload | null>
  /** Asks a human, durably. A decision that is not taken in time is `granted: false`. */
  approval(name: string, options?: ApprovalOptions): Promise<ApprovalDecision>
  /** For plain agents: return what this returns, and the run is called again with `resume` set. */
  suspend(request?: SuspendRequest): Suspension
  /** Runs a tool once. Its failure is data with the kinds of the tool failures, never an exception. */
  tool<Args, Result>(call: ToolCall<Args, Result>): Promise<ToolOutcome<Result>>
  /** Adds to the usage of the run; over its budget the run ends with `budget-exhausted`. */
  usage(report: UsageReport): Promise<void>
  /** `agents.run` starts another agent as a child of this run and waits for its result. Throws `step-failed` when it does not complete. */
  readonly agents: {
    /**
     * Runs another agent as a child of this run and waits for its result. `Result` is what the code takes it for; nothing
     * checks it.
     *
     * @throws AppError `step-failed` when the child does not complete
     */
    run<Result = unknown>(agentId: string, input?: unknown): Promise<Result>
  }
}

export type AgentContext = RunContext

/** What a generator agent yields in place of calling `emit`. */
export interface AgentEvent {
  readonly type: string
  readonly payload?: unknown
  readonly phase?: EventPhase
}

/** Anything with an id and a `run`; its result must be JSON. */
export interface Agent<Input = unknown> {
  readonly id: string
  run(input: Input, context: AgentContext): Promise<unknown> | AsyncGenerator<AgentEvent, unknown, void>
}

export type Concurrency = 'parallel' | 'single' | 'session'
export type OnBusy = 'reject' | 'queue' | 'interrupt'
export type Recovery = 'fail' | 'resume'

/** What agents and workflows have in common; every missing field has the default of the reference docs. */
export interface RegistrationOptions<Input = unknown> {
  /** 1 to 128 letters, digits, `_` or `-`, the first a letter or digit. */
  readonly id: string
  /** For people; `GET /agents` and `GET /workflows` show it. */
  readonly description: string
  /** Checked before a run exists; a mismatch is `invalid-input`. The code gets what it makes of the input, and its type. */
  readonly input?: StandardSchemaV1<unknown, Input>
  /** `'parallel'` (default), `'single'` (one run at a time) or `'session'` (one in each session). */
  readonly concurrency?: Concurrency
  /** Of a run that finds no place: `'reject'` (default) refuses it, `'queue'` lets it wait, `'interrupt'` aborts the one before. */
  readonly onBusy?: OnBusy
  /** What a crash does to a running run: `'fail'` for agents, `'resume'` for workflows when missing. */
  readonly recovery?: Recovery
  /** How often a run that resumes may begin, the first time included; 3 when missing. */
  readonly maxAttempts?: number
  /** The longest that one execution may take; it does not count while the run is suspended. No limit when missing. Milliseconds. */
  readonly timeoutMs?: number
  /**
   * The most that a run may use which a request or a trigger starts, whatever the request says; what runs below it use counts,
   * too. A run that another one starts is held to the budget of the run at the top alone.
   */
  readonly budget?: RunBudget
  /** For people and tools; nothing follows from them. */
  readonly tags?: readonly string[]
}

export interface AgentRegistration<Input = unknown> extends RegistrationOptions<Input> {
  readonly agent: Agent<NoInfer<Input>>
}

/** Typed identity for an agent in a module of its own: the schema in `input` gives `run` the type of its input. */
export const defineAgent = <Input = unknown>(registration: AgentRegistration<Input>): AgentRegistration<Input> =>
  registration
