import type { EpochMs } from './clock.ts'
import type { JsonText } from './json-text.ts'
import type { Page, PageQuery } from './page.ts'
import type { Visibility } from './row-access.ts'

export type RunKind = 'agent' | 'workflow'
export type RunStatus = 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'aborted'
export type FinishReason =
  | 'completed'
  | 'error'
  | 'aborted'
  | 'timeout'
  | 'shutdown'
  | 'interrupted'
  | 'budget-exhausted'

/** What an agent threw, or what the server says of it. Exactly one of `code` and `kind` is set. */
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

/** What a run may use up in all; it ends with `budget-exhausted` at the first limit it reaches. */
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
  readonly owner: string // subject of the token that started it
  readonly userId?: string | undefined
  readonly status: RunStatus
  readonly finishReason?: FinishReason | undefined
  readonly input: JsonText
  readonly result?: JsonText | undefined
  readonly error?: RunError | undefined
  readonly usage: RunUsage
  readonly budget?: RunBudget | undefined
  readonly deadlineAt?: EpochMs | undefined // when its budget of wall-clock time is used up
  readonly attempt: number // from 1; the fencing token of every transition
  readonly timeoutMs?: number | undefined
  readonly suspension?: JsonText | undefined // what it was suspended with as a whole; opaque to stores
  readonly resumption?: JsonText | undefined // what it was resumed with; opaque to stores
  readonly depth: number // 0 for a run that no run started, else one more than its parent
  readonly parentRunId?: string | undefined
  readonly parentSeq?: number | undefined // the call of the parent that waits for it
  readonly triggerId?: string | undefined
  readonly traceparent?: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly createdAt: EpochMs
  readonly startedAt?: EpochMs | undefined
  readonly suspendedAt?: EpochMs | undefined
  readonly completedAt?: EpochMs | undefined
}

/** The fields a transition may set; a missing member stays as it is. */
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

/** Port. Reads of runs; every write goes through `UnitOfWork`. Passes `runStoreContract`. */
export interface RunStore {
  /** The run, when it exists and is visible. */
  find(id: string, visibility: Visibility): Promise<RunRecord | undefined>
  /** Runs that match every given filter and are visible, ordered by creation (ties by id). */
  list(filter: RunFilter, page: PageQuery, visibility: Visibility): Promise<Page<RunRecord>>
  /** Runs that are queued, running or suspended with `deadlineAt <= now`, earliest first. */
  pastDeadline(now: EpochMs, limit: number): Promise<readonly RunRecord[]>
  /** The earliest `deadlineAt` of all runs that are queued, running or suspended. */
  nextDeadlineAt(): Promise<EpochMs | undefined>
}
