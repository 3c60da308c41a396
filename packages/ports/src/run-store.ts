import type { RunStatusName } from '@perdure/protocol'
import type { EpochMs } from './clock.ts'
import type { JsonText } from './json-text.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

export type RunKind = 'agent' | 'workflow'
export type RunStatus = RunStatusName
export type FinishReason =
  | 'completed'
  | 'error'
  | 'aborted'
  | 'timeout'
  | 'shutdown'
  | 'interrupted'
  | 'budget-exhausted'

/** The error of a run or call, thrown by its code or raised by the server. Exactly one of `code` and `kind` is set. */
export interface RunError {
  readonly code?: string | undefined
  readonly kind?: string | undefined
  readonly message: string
}

export interface RunUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
  readonly toolCalls: number
}

export const NO_USAGE: RunUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0, toolCalls: 0 }

/** Limits on the total usage of a run. A run that reaches a limit ends with `budget-exhausted`. */
export interface RunBudget {
  readonly tokens?: number | undefined
  readonly costUsd?: number | undefined
  readonly toolCalls?: number | undefined
  readonly wallClockMs?: number | undefined
}

/** One execution of an agent or workflow. */
export interface RunRecord {
  readonly id: string
  readonly kind: RunKind
  readonly targetId: string // the agent's or workflow's id
  readonly threadId?: string | undefined
  readonly sessionId?: string | undefined
  readonly owner: string // subject of the token that started the run
  readonly userId?: string | undefined
  readonly status: RunStatus
  readonly finishReason?: FinishReason | undefined
  readonly input: JsonText
  readonly result?: JsonText | undefined
  readonly error?: RunError | undefined
  readonly usage: RunUsage
  readonly budget?: RunBudget | undefined
  readonly deadlineAt?: EpochMs | undefined // when its wall-clock budget runs out
  readonly attempt: number // from 1; the fencing token of every transition
  readonly timeoutMs?: number | undefined
  readonly suspension?: JsonText | undefined // the request with which the whole run was suspended; opaque to stores
  readonly resumption?: JsonText | undefined // the payload with which the run was resumed; opaque to stores
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
    | 'result'
    | 'error'
    | 'usage'
    | 'attempt'
    | 'suspension'
    | 'resumption'
    | 'startedAt'
    | 'suspendedAt'
    | 'completedAt'
  >
>

export interface RunFilter {
  readonly statuses?: readonly RunStatus[] | undefined
  readonly kind?: RunKind | undefined
  readonly targetId?: string | undefined
  readonly threadId?: string | undefined
  readonly sessionId?: string | undefined
  readonly parentRunId?: string | undefined
  readonly since?: EpochMs | undefined // createdAt >= since
}

/** Port. Reads runs; every write goes through `UnitOfWork`. Must pass `runStoreContract`. */
export interface RunStore {
  /** Returns the run if it exists and is visible. */
  find(id: string, visibility: Visibility): Promise<RunRecord | undefined>
  /** Lists visible runs that match every given filter, ordered by creation (ties by id). */
  list(filter: RunFilter, page: PageQuery, visibility: Visibility): Promise<Page<RunRecord>>
  /** Lists queued, running and suspended runs with `deadlineAt <= now`, earliest first. */
  pastDeadline(now: EpochMs, limit: number): Promise<readonly RunRecord[]>
  /** Returns the earliest `deadlineAt` of all queued, running and suspended runs. */
  nextDeadlineAt(): Promise<EpochMs | undefined>
}
