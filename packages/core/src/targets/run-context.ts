import type { EventPhase, Logger } from '@perdure/ports'
import type { Duration, ResultOf, SentTo, Stored } from '@perdure/protocol'
import type { RunCaller } from '../auth/caller.ts'
import type { ApprovalDecision, ApprovalOptions } from '../durable/approvals/approval-options.ts'
import type { Authoring } from '../durable/authoring.ts'
import type { ClientToolCall } from '../durable/client-tool.ts'
import type { StepFn, StepOptions } from '../durable/step.ts'
import type { SuspendRequest, Suspension } from '../durable/suspension.ts'
import type { ToolCall, ToolOutcome } from '../durable/tool.ts'
import type { UsageReport } from '../durable/usage/usage-report.ts'
import type { WaitOptions } from '../durable/wait-call.ts'
import type { Invocable } from './invocable.ts'
import type { RunServices } from './run-services.ts'

export interface EmitOptions {
  /** `commentary` marks text that is sanitized on delivery. */
  readonly phase?: EventPhase
}

/** What a resumed run gets back after it returned `ctx.suspend(…)`. */
export interface Resume {
  readonly state: unknown
  readonly approvals: readonly ({ readonly id: string; readonly name: string } & ApprovalDecision)[]
  readonly payload: unknown
}

/**
 * What the code of a run can read about the run, and what it can do. The durable calls (`step`, `sleep`,
 * `waitForEvent`, `approval`, `version`, `tool`, `clientTool`, `invoke`) are identified by their order: code that is executed again, after a
 * wait or a crash, must make the same calls in the same order. While all of its code waits, a run is suspended and uses
 * no memory; if other asynchronous work runs during a wait, wrap that work in a step.
 */
export interface RunContext extends RunServices, Authoring {
  readonly runId: string
  readonly agentId: string | undefined
  readonly workflowId: string | undefined
  readonly threadId: string | undefined
  readonly sessionId: string | undefined
  /**
   * The verified subject on whose behalf the run executes: the owner of the token that started it, or the creator of
   * its trigger. A child run has the owner of its parent. Base authorization decisions on this field.
   */
  readonly owner: string
  /**
   * The owner, with what the server knew about it when it asked for the run: the claims of its JWT that the configuration lets
   * through, or what the program that embeds the server stated. A re-execution reads the same. A child run has the caller of its
   * parent, and a fork that of the request for it; the run of a trigger has no claims.
   */
  readonly caller: RunCaller
  /** `userId` from the request body. Unverified: any caller that may start the run can set it to anything. */
  readonly userId: string | undefined
  /** Starts at 1; incremented when the run starts again after a crash or a restart. */
  readonly attempt: number
  /** W3C trace context of the request that started the run. */
  readonly traceparent: string | undefined
  /** `metadata` from the request body, unverified like `userId`. */
  readonly metadata: Readonly<Record<string, string>>
  /**
   * Aborts on cancel, timeout and shutdown; its `reason` is `'aborted'`, `'timeout'`, `'shutdown'`,
   * `'budget-exhausted'`, `'retried'` or `'parked'`.
   */
  readonly signal: AbortSignal
  /**
   * Writes to the log of the server, with the id of the run. Each line is also an event `run.log` of the run, at most
   * 1,000 of 8 KiB, which `GET /runs/:id/logs` returns.
   */
  readonly log: Logger
  /** Set when the run resumes after `suspend`. */
  readonly resume: Resume | undefined
  /**
   * Appends an event to the log of the run. Resolves when the event is durable; does not have to be awaited.
   *
   * @throws PerdureError `validation-failed` for a reserved or malformed type, or a payload over the limit;
   *   `run-not-active` once the run has ended.
   */
  emit(type: string, payload: unknown, options?: EmitOptions): Promise<void>
  /**
   * Executes a piece of work once. Its result is stored as JSON; a re-execution gets that result without calling `fn`.
   *
   * @throws PerdureError `step-failed` when its retries are used up, or when it must not be repeated after a crash
   */
  step<T>(name: string, fn: StepFn<T>, options?: StepOptions): Promise<Stored<Awaited<T>>>
  /** Waits, durably, for a duration or until a date. */
  sleep(name: string, until: Duration | Date): Promise<void>
  /**
   * Waits, durably, for a named event. Resolves with its payload, or with `null` after the timeout. The payload is not
   * checked against the type `Payload`.
   */
  waitForEvent<Payload = unknown>(name: string, options?: WaitOptions): Promise<Payload | null>
  /** Asks a person for a decision, durably. Without a decision in time, the result is `approved: false`. */
  approval(name: string, options?: ApprovalOptions): Promise<ApprovalDecision>
  /**
   * The version of a branch that the run takes, recorded for the whole life of the run. Use it to change code under
   * waiting runs: `if ((await ctx.version('mail', 1, 2)) === 1) …old calls… else …new calls…`. A run that reaches this
   * point for the first time takes `max`; a run that passed it with code that did not have this call takes `min`. A run
   * whose recorded version is outside the range is parked until code that supports it is registered.
   *
   * @throws PerdureError `validation-failed` unless `min` and `max` are integers and `min` is at most `max`
   */
  version(name: string, min: number, max: number): Promise<number>
  /**
   * For agents without durable waits: return the result of this call to suspend the run. When the run resumes, its code
   * is called again with `resume` set.
   */
  suspend(request?: SuspendRequest): Suspension
  /** Calls a tool once. A failure is returned as data with a failure kind, never thrown. */
  tool<Args, Result>(call: ToolCall<Args, Result>): Promise<ToolOutcome<Stored<Awaited<Result>>>>
  /**
   * Asks the client of the run to perform a tool, such as a dialog of its page, and waits, durably, for the result. A failure,
   * and the end of `timeout`, are returned as data, like those of `tool`. The result is not checked against the type `Result`.
   */
  clientTool<Result = unknown>(call: ClientToolCall): Promise<ToolOutcome<Result>>
  /** Adds to the usage of the run. A run over its budget ends with `budget-exhausted`. */
  usage(report: UsageReport): Promise<void>
  /**
   * Runs another agent or workflow as a child of this run and waits for its result. A definition determines the types of input
   * and result, and its version is executed; an id leaves both unchecked.
   *
   * @throws PerdureError `step-failed` when the child does not complete; `agent-not-found`, `workflow-not-found`,
   *   `version-unknown`, `invalid-input`
   */
  invoke<Target extends string | Invocable>(
    target: Target,
    ...input: InvokeInput<Target>
  ): Promise<Target extends string ? unknown : ResultOf<Target>>
  /**
   * Starts another agent or workflow, and resolves once its run is stored. The run outlives this one: neither the end of this run nor
   * its abort ends it. With `onEnd: 'message'`, its end becomes a message of the session, which waits, steers or interrupts as the
   * agent of the session treats messages. Input, errors and limits are those of `invoke`, without the deadline of this run.
   *
   * @throws PerdureError the errors of `invoke`; `validation-failed` for `onEnd: 'message'` outside of an agent's session
   */
  start<Target extends string | Invocable>(target: Target, ...rest: StartRest<Target>): Promise<StartedRun>
}

export interface StartOptions {
  /** `'message'`: the end of the run becomes a message in the session of the run that starts it. */
  readonly onEnd?: 'message'
}

export interface StartedRun {
  readonly runId: string
}

type InvokeInput<Target> = Target extends string
  ? [input?: unknown]
  : undefined extends SentTo<Target>
    ? [input?: SentTo<Target>]
    : [input: SentTo<Target>]

type StartRest<Target> = Target extends string
  ? [input?: unknown, options?: StartOptions]
  : undefined extends SentTo<Target>
    ? [input?: SentTo<Target>, options?: StartOptions]
    : [input: SentTo<Target>, options?: StartOptions]
