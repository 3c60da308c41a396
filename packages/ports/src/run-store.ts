import type { FINISH_REASONS, RunStatusName } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'
import type { SubjectUsage } from './subject-usage.ts'
import type { JsonText } from './values/json-text.ts'
import type { WithStored } from './values/stored-text.ts'

export type RunKind = 'agent' | 'workflow'
export type RunStatus = RunStatusName
export type FinishReason = (typeof FINISH_REASONS)[number]

/** The error of a run or call, thrown by its code or raised by the server. */
export interface RunError {
  readonly code: string
  readonly message: string
  /** The durable call whose failure ended the run. */
  readonly step?: FailedCall | undefined
  /** The run whose budget was used up: the run itself or one of its ancestors. */
  readonly budgetOf?: string | undefined
  /** The chain of causes of the thrown value, nearest first. */
  readonly cause?: readonly ErrorCause[] | undefined
  /** Where the value was thrown. Only logs and raw replays show it. */
  readonly stack?: string | undefined
}

export interface FailedCall {
  readonly seq: number
  readonly name: string
}

export interface ErrorCause {
  readonly name: string
  readonly message: string
}

export interface RunUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
  readonly toolCalls: number
}

export const NO_USAGE: RunUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0, toolCalls: 0 }

export const sumUsage = (one: RunUsage, other: RunUsage): RunUsage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  costUsd: one.costUsd + other.costUsd,
  toolCalls: one.toolCalls + other.toolCalls,
})

/** Limits on the total usage of a run. A run that reaches a limit ends with `budget-exhausted`. */
export interface RunBudget {
  readonly tokens?: number | undefined
  readonly costUsd?: number | undefined
  readonly toolCalls?: number | undefined
  readonly maxDuration?: number | undefined
  /** At the other limits, a run with `ask` waits for an approval; any other fails. */
  readonly onExceeded?: 'fail' | 'ask' | undefined
}

/** The run that a fork repeats, and the last durable call that was copied from it; 0 if none was. */
export interface ForkOrigin {
  readonly runId: string
  readonly seq: number
}

/** The values by which flow control groups a run, as computed when it was accepted. */
export interface FlowKeys {
  readonly concurrency?: string | undefined
  readonly rate?: string | undefined
  readonly debounce?: string | undefined
  /** What the run does while another run of its session works, unless it only waits. */
  readonly onBusy?: 'steer' | 'interrupt' | undefined
  /** Set for a run that outlives its parent. */
  readonly background?: BackgroundRun | undefined
}

export interface BackgroundRun {
  /** The agent of the session that gets the end of the run as a message; nobody does when missing. */
  readonly reportTo?: string | undefined
}

/** One execution of an agent or workflow. */
export interface RunRecord {
  readonly id: string
  readonly kind: RunKind
  readonly targetId: string // the agent's or workflow's id
  readonly threadId?: string | undefined
  readonly sessionId?: string | undefined
  readonly owner: string // subject of the token that started the run
  readonly caller?: JsonText | undefined // what was known about the owner when it asked for the run; opaque to stores
  readonly userId?: string | undefined
  readonly status: RunStatus
  readonly finishReason?: FinishReason | undefined
  readonly input: JsonText
  readonly result?: JsonText | undefined
  readonly error?: RunError | undefined
  readonly usage: RunUsage // of the run and its descendants
  readonly budget?: RunBudget | undefined
  readonly deadlineAt?: EpochMs | undefined // when its `maxDuration` is used up
  readonly abortReason?: string | undefined // given by the caller that aborted the run
  readonly attempt: number // from 1; the fencing token of every transition
  readonly execution: number // how often the run has become `running`; 0 while it never was
  readonly executor?: string | undefined // the process that executes the run; missing when only one process can
  readonly retries?: number | undefined // how many attempts began after an error; 0 when missing
  readonly startAt?: EpochMs | undefined // a queued run does not start before
  readonly timeoutMs?: number | undefined
  readonly suspension?: JsonText | undefined // the request with which the whole run was suspended; opaque to stores
  readonly resumption?: JsonText | undefined // the payload with which the run was resumed; opaque to stores
  readonly parked?: JsonText | undefined // why the code of the run could not continue; opaque to stores
  readonly version?: string | undefined // version of the registration that the run executes
  readonly priority?: number | undefined // from -100 to 100; 0 when missing
  readonly flow?: FlowKeys | undefined
  readonly forkOf?: ForkOrigin | undefined // the run that this run repeats
  readonly withdrawnBy?: string | undefined // the run of its session that took it out of the conversation
  readonly depth: number // 0 without a parent, otherwise the depth of the parent plus 1
  readonly parentRunId?: string | undefined
  readonly parentSeq?: number | undefined // the parent's call that waits for this run
  readonly triggerId?: string | undefined
  readonly traceparent?: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: EpochMs
  readonly startedAt?: EpochMs | undefined
  readonly suspendedAt?: EpochMs | undefined
  readonly completedAt?: EpochMs | undefined
}

/** The fields that a transition can set; a missing member stays unchanged. */
export type RunChange = Partial<
  Pick<
    RunRecord,
    | 'status'
    | 'finishReason'
    | 'input'
    | 'caller'
    | 'result'
    | 'error'
    | 'usage'
    | 'attempt'
    | 'executor'
    | 'suspension'
    | 'resumption'
    | 'parked'
    | 'flow'
    | 'startAt'
    | 'deadlineAt'
    | 'retries'
    | 'abortReason'
    | 'withdrawnBy'
    | 'startedAt'
    | 'suspendedAt'
    | 'completedAt'
  >
>

/** The members of a run that can be large. */
export const RUN_CONTENT = ['input', 'result', 'suspension', 'resumption'] as const
export type RunContent = (typeof RUN_CONTENT)[number]

/** A run of which only some of the large members were read. */
export type ListedRun<Content extends RunContent = RunContent> = Omit<RunRecord, RunContent> & Pick<RunRecord, Content>

/** A listed run whose long texts stay in the store. */
export type OutlinedRun<Content extends RunContent = RunContent> = WithStored<ListedRun<Content>, Content>

export interface RunPageQuery<Content extends RunContent = RunContent> extends PageQuery {
  /** The large members to read; without this member, all of them. */
  readonly content?: readonly Content[] | undefined
}

export interface RunFilter {
  readonly statuses?: readonly RunStatus[] | undefined
  readonly kind?: RunKind | undefined
  readonly targetId?: string | undefined
  readonly threadId?: string | undefined
  readonly sessionId?: string | undefined
  readonly parentRunId?: string | undefined
  readonly isRoot?: true | undefined // no run has started it
  readonly isTurn?: true | undefined // no run has started it, and no run has withdrawn it
  readonly since?: EpochMs | undefined // createdAt >= since
  readonly until?: EpochMs | undefined // createdAt < until
  readonly ids?: readonly string[] | undefined
  readonly owner?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined // the run has all of these
  readonly tag?: string | undefined // a tag of the registration, as it was when the run started
  readonly version?: string | undefined
  readonly finishReason?: FinishReason | undefined
  readonly code?: string | undefined // of the error of the run
  readonly startKey?: string | undefined // of `RunLabels`
  readonly debounce?: string | undefined // of the `FlowKeys` with which the run was inserted
  readonly isParked?: true | undefined // suspended because its code could not continue
}

/** Port. Reads runs; every write goes through `UnitOfWork`. Must pass `runStoreContract`. */
export interface RunStore {
  /** Returns the run if it exists and is visible. */
  find(id: string, visibility: Visibility): Promise<RunRecord | undefined>
  /**
   * Lists visible runs that match every given filter, ordered by creation (ties by id). Large members that `content`
   * does not name are neither read nor returned, and do not count towards the size of the page.
   */
  list<Content extends RunContent = RunContent>(
    filter: RunFilter,
    page: RunPageQuery<Content>,
    visibility: Visibility,
  ): Promise<Page<ListedRun<Content>>>
  /**
   * Lists the same pages as `list`, but reads no member of `content` that is longer than `MAX_SHORT_BYTES`: it is a
   * `StoredText` instead.
   */
  outline<Content extends RunContent = RunContent>(
    filter: RunFilter,
    page: RunPageQuery<Content>,
    visibility: Visibility,
  ): Promise<Page<OutlinedRun<Content>>>
  /** Lists up to `limit` different owners of stored runs, whatever the status of the runs, in an order of its own. */
  owners(limit: number): Promise<readonly string[]>
  /** What the subject uses, on the UTC day of `now`. */
  usage(subject: string, now: EpochMs): Promise<SubjectUsage>
  /**
   * Lists up to `limit` runs that are marked with `needsFollowUp`, in an order of its own. The list ends like a page, so
   * it can be shorter than `limit` although more runs are marked; it is empty only if none is.
   */
  needingFollowUp(limit: number): Promise<readonly RunRecord[]>
}
