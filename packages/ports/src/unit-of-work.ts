import type { ApprovalRecord, ApprovalResolution } from './approval-store.ts'
import type { AuditKeys } from './audit-chain.ts'
import type { NewAuditEntry } from './audit-log.ts'
import type { EpochMs } from './clock.ts'
import type { ConsolidatorWrite, ConsolidatorWriteConflict } from './consolidator-writes.ts'
import type { EmissionPart } from './emission-store.ts'
import type { NewEvent, StoredEvent } from './event-log.ts'
import type { FireChange, FireRecord, FireStatus } from './fire-store.ts'
import type { IdempotencyRecord, StoredResponse } from './idempotency-store.ts'
import type { McpServerRecord } from './mcp-server-store.ts'
import type { MemoryWrite, MemoryWriteConflict } from './memory-writes.ts'
import type { RunChange, RunRecord, RunStatus } from './run-store.ts'
import type { NewMessage, SessionChange, SessionRecord } from './session-store.ts'
import type { StepChange, StepRecord, StepStatus } from './step-store.ts'
import type { TokenRecord } from './token-store.ts'
import type { TriggerRecord } from './trigger-store.ts'

/** One intent inside a transaction, as plain data: it can cross a thread. */
export type Write =
  /** Inserts the record; conflicts with a live one of the same id (executing, or `expiresAt > now`) and replaces a dead one. */
  | { readonly type: 'idempotency.reserve'; readonly record: IdempotencyRecord; readonly now: EpochMs }
  /** Answers the record that waits for this run; a no-op when there is none or it is already answered. */
  | { readonly type: 'idempotency.complete'; readonly runId: string; readonly response: StoredResponse }
  /**
   * Answers every record that still executes for no run: whoever executed it has died. Before anything executes only.
   */
  | { readonly type: 'idempotency.interrupt'; readonly response: StoredResponse }
  /** Deletes up to `limit` answered records with `expiresAt <= now`. */
  | { readonly type: 'idempotency.prune'; readonly now: EpochMs; readonly limit: number }
  /** Conflicts when the id is taken. */
  | { readonly type: 'run.insert'; readonly run: RunRecord }
  /** Changes the run when its status is one of `from` and its attempt is `attempt`; conflicts otherwise. */
  | {
      readonly type: 'run.transition'
      readonly runId: string
      readonly from: readonly RunStatus[]
      readonly attempt: number
      readonly change: RunChange
    }
  /** Conflicts unless the run is `running` in this attempt: fences what a stale attempt would still write. */
  | { readonly type: 'run.fence'; readonly runId: string; readonly attempt: number }
  /** Conflicts when the run already has a call at this place. */
  | { readonly type: 'step.insert'; readonly step: StepRecord }
  /**
   * Changes the call when its status is `from`; conflicts otherwise. A change to `completed` or `failed` also gives it
   * the next `order` of its run.
   */
  | {
      readonly type: 'step.change'
      readonly runId: string
      readonly seq: number
      readonly from: StepStatus
      readonly change: StepChange
    }
  /**
   * Conflicts unless every one of these calls still waits, and names the first that does not: a run may only be
   * suspended while nothing it waits for is there.
   */
  | { readonly type: 'step.fence'; readonly runId: string; readonly seqs: readonly number[] }
  /** Conflicts when the id is taken. */
  | { readonly type: 'approval.insert'; readonly approval: ApprovalRecord }
  /** Conflicts unless the approval is pending. */
  | { readonly type: 'approval.resolve'; readonly id: string; readonly resolution: ApprovalResolution }
  /** Conflicts when the id is taken. */
  | { readonly type: 'emission.insert'; readonly part: EmissionPart }
  /** Removes the part; conflicts when it is gone, because somebody else has handed it out. */
  | { readonly type: 'emission.finish'; readonly id: string }
  | { readonly type: 'event.append'; readonly events: readonly NewEvent[] }
  /**
   * Deletes up to `limit` of the oldest events, up to the first one that is not before `before`; those of a run that is
   * queued, running or suspended stay. Moves `trimmedThrough` to the last one deleted. Never conflicts, and counts the events.
   */
  | { readonly type: 'event.trim'; readonly before: EpochMs; readonly limit: number }
  /**
   * Deletes up to `limit` runs that were created and have ended before `before`, with their calls, approvals and events, and
   * moves `trimmedThrough` to the last of these events. A run stays while its parent, or another run of its thread, is
   * queued, running or suspended. Never conflicts, and counts the runs.
   */
  | { readonly type: 'run.prune'; readonly before: EpochMs; readonly limit: number }
  /** Conflicts when the id is taken. */
  | { readonly type: 'session.insert'; readonly session: SessionRecord }
  /** Changes the session while its title and metadata are those of `from`, and sets `updatedAt`; conflicts otherwise. */
  | {
      readonly type: 'session.update'
      readonly id: string
      readonly from: Pick<SessionRecord, 'title' | 'metadata'>
      readonly change: SessionChange
      readonly at: EpochMs
    }
  /** Sets `updatedAt`; a no-op for an unknown session. */
  | { readonly type: 'session.touch'; readonly id: string; readonly at: EpochMs }
  /**
   * Deletes the session with its messages and events, and its runs with their calls, approvals and events. Answers that
   * hold content of any of these are replaced by `answer`, so that their keys stay used. Facts and fires outlive
   * them without their names; jobs for the session go. Conflicts when there is no such session, and while one of its runs is queued, running or suspended.
   * With `idleSince` it also conflicts when the session was active after that instant, and `trimmedThrough` tells of the
   * events it removes.
   */
  | {
      readonly type: 'session.delete'
      readonly id: string
      readonly answer: StoredResponse
      readonly idleSince?: EpochMs | undefined
    }
  /** Appends to the transcript with the next `seq`; sets the session's `updatedAt`. Conflicts when there is no session. */
  | { readonly type: 'message.append'; readonly message: NewMessage }
  /**
   * Conflicts when the id or the digest is taken, and when its parent is missing, revoked or expired at `createdAt`: the
   * conflict then names the parent.
   */
  | { readonly type: 'token.insert'; readonly token: TokenRecord }
  /**
   * Sets `revokedAt` of the token, of all that descend from it, and of those that any of them has replaced, where it is
   * not set; conflicts when there is no such token. Counts the tokens it changed.
   */
  | { readonly type: 'token.revoke'; readonly id: string; readonly at: EpochMs }
  /**
   * Ends a token in favour of another: sets `replacedBy`, and `revokedAt` when `until` is `at`, else `expiresAt` to the
   * earlier of `until` and what it was. What the token has minted descends from the other from now on, and all
   * of it expires with that one at the latest. Conflicts unless the token is there, not revoked, not expired at `at` and not replaced.
   */
  | {
      readonly type: 'token.retire'
      readonly id: string
      readonly replacedBy: string
      readonly at: EpochMs
      readonly until: EpochMs
    }
  /** Sets the digest where it still is `from`; a no-op otherwise. Conflicts when another token has the digest `to`. */
  | { readonly type: 'token.rehash'; readonly id: string; readonly from: string; readonly to: string }
  /** Sets `lastUsedAt`; a no-op for an unknown token. */
  | { readonly type: 'token.touch'; readonly id: string; readonly at: EpochMs }
  /**
   * Deletes every run of the thread of this workflow, whatever its status, with its calls, approvals and events. Answers that
   * hold content of any of these are replaced by `answer`, so that their keys stay used. Facts and fires outlive
   * them without their names. Never conflicts, and counts the runs. The positions of the events are not given again.
   */
  | {
      readonly type: 'thread.delete'
      readonly workflowId: string
      readonly threadId: string
      readonly answer: StoredResponse
    }
  /**
   * Appends the next link of the audit chain and moves its head, by `appendEntry`; never conflicts, and counts the links.
   * `source` names where the entry comes from: one that was appended before and not released since is not appended again.
   */
  | {
      readonly type: 'audit.append'
      readonly entry: NewAuditEntry
      /** Of the head; without any it has a checksum only. */
      readonly keys?: AuditKeys | undefined
      readonly source?: string | undefined
      /** Whether `audit.appended` is written to the event log too. */
      readonly publish?: boolean | undefined
      /** The request that did it, by identity; not stored. */
      readonly origin?: RequestOrigin | undefined
    }
  /** Keeps an entry for the chain of another database, in the commit of its deed; never conflicts, a known key counts 0. */
  | { readonly type: 'audit.stage'; readonly key: string; readonly entry: NewAuditEntry }
  /** Forgets what was staged under these keys, and that they were sources; never conflicts. */
  | { readonly type: 'audit.release'; readonly keys: readonly string[] }
  /**
   * Removes the entries up to a place and signs it as the base; never conflicts. Counts the entries, 0 when there is none
   * at that place.
   */
  | { readonly type: 'audit.prune'; readonly throughSeq: number; readonly keys?: AuditKeys | undefined }
  /** Conflicts when the id is taken. */
  | { readonly type: 'trigger.insert'; readonly trigger: TriggerRecord }
  /**
   * Puts `trigger` in the place of the record of its id, whose version must be one less than the new one; conflicts
   * otherwise. `id` and `createdAt` stay.
   */
  | { readonly type: 'trigger.replace'; readonly trigger: TriggerRecord }
  /** Deletes the trigger with all its fires; never conflicts, and counts the trigger. */
  | { readonly type: 'trigger.delete'; readonly id: string }
  /**
   * Conflicts when the trigger does not exist, when the id is taken, and, for the cause `schedule`, when a scheduled fire
   * of the trigger has this `scheduledAt`.
   */
  | { readonly type: 'fire.insert'; readonly fire: FireRecord }
  /** Changes the fire when its status is `from`; conflicts otherwise. A missing member of the change stays as it is. */
  | { readonly type: 'fire.change'; readonly id: string; readonly from: FireStatus; readonly change: FireChange }
  /**
   * Changes a fire that is `started` to what its run came to, and with it the `lastStatus` and the version of its trigger
   * when it is that one's `lastFireId`; a no-op otherwise.
   */
  | {
      readonly type: 'fire.settle'
      readonly id: string
      readonly status: 'completed' | 'failed'
      readonly reason?: string | undefined
    }
  /** Deletes up to `limit` fires created before `before` that are neither pending nor started. */
  | { readonly type: 'fire.prune'; readonly before: EpochMs; readonly limit: number }
  /** Conflicts when the id is taken. */
  | { readonly type: 'mcp-server.insert'; readonly server: McpServerRecord }
  /** Conflicts when there is no such server. */
  | { readonly type: 'mcp-server.delete'; readonly id: string }
  | MemoryWrite
  | ConsolidatorWrite

/** The request in which something is done, for the audit chain. */
export interface RequestOrigin {
  readonly requestId: string
  readonly method: string
  readonly route: string // pattern, with the base path
  readonly ip: string
}

export type WriteType = Write['type']

/** The write that could not be done, and the record that stood in its way (absent when there is none). */
export type Conflict =
  | { readonly type: 'idempotency.reserve'; readonly current: IdempotencyRecord }
  | { readonly type: 'run.insert' | 'run.transition' | 'run.fence'; readonly current?: RunRecord | undefined }
  | { readonly type: 'step.insert' | 'step.change' | 'step.fence'; readonly current?: StepRecord | undefined }
  | { readonly type: 'approval.insert' | 'approval.resolve'; readonly current?: ApprovalRecord | undefined }
  | { readonly type: 'emission.insert' | 'emission.finish' }
  | {
      readonly type: 'session.insert' | 'session.update' | 'session.delete' | 'message.append'
      readonly current?: SessionRecord | undefined
    }
  | { readonly type: 'mcp-server.insert' | 'mcp-server.delete'; readonly current?: McpServerRecord | undefined }
  | {
      readonly type: 'token.insert' | 'token.revoke' | 'token.retire' | 'token.rehash'
      readonly current?: TokenRecord | undefined
    }
  | { readonly type: 'trigger.insert' | 'trigger.replace'; readonly current?: TriggerRecord | undefined }
  | { readonly type: 'fire.insert' | 'fire.change'; readonly current?: FireRecord | undefined }
  | MemoryWriteConflict
  | ConsolidatorWriteConflict

export type CommitOutcome =
  | {
      readonly committed: true
      /** All events of the transaction in the order they were written, with their positions. */
      readonly events: readonly StoredEvent[]
      /** Rows changed, per write. */
      readonly counts: readonly number[]
    }
  | { readonly committed: false; readonly index: number; readonly conflict: Conflict }

/** Port. The one way to write. Passes `unitOfWorkContract`. */
export interface UnitOfWork {
  /**
   * Applies all writes in order in one transaction, or none of them. Resolves when the outcome is durable. The first
   * conflict undoes everything and is reported as a value. Concurrent commits are serialized; event positions follow
   * the order of commits, and so do the answers. A commit may be read before it is answered, never before it is durable.
   *
   * @throws AppError `storage-full`, `SQLITE_BUSY`: nothing was written; `storage-failed`: the outcome is unknown.
   */
  commit(writes: readonly Write[]): Promise<CommitOutcome>
}
