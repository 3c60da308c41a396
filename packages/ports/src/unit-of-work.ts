import type { ApprovalRecord, ApprovalResolution } from './approval-store.ts'
import type { AuditKeys } from './audit-chain.ts'
import type { NewAuditEntry } from './audit-log.ts'
import type { ChatWrite, ChatWriteConflict } from './chat-store.ts'
import type { EpochMs } from './clock.ts'
import type { ConsolidatorWrite, ConsolidatorWriteConflict } from './consolidator-writes.ts'
import type { EmissionPart } from './emission-store.ts'
import type { NewEvent, StoredEvent } from './event-log.ts'
import type { FileWrite, FileWriteConflict } from './file-writes.ts'
import type { HookWrite, HookWriteConflict } from './hook-writes.ts'
import type { IdempotencyRecord, StoredResponse } from './idempotency-store.ts'
import type { LaneWrite, LaneWriteConflict } from './lane-writes.ts'
import type { McpServerRecord } from './mcp-server-store.ts'
import type { MemoryWrite, MemoryWriteConflict } from './memory-writes.ts'
import type { RunWrite, RunWriteConflict } from './run-writes.ts'
import type { ChangingSession, MessageBrief, NewMessage, SessionChange, SessionRecord } from './session-store.ts'
import type { StepChange, StepRecord, StepStatus } from './step-store.ts'
import type { SubjectWrite } from './subject-revocation-store.ts'
import type { TokenRecord } from './token-store.ts'
import type { TriggerWrite, TriggerWriteConflict } from './trigger-writes.ts'
import type { JsonText } from './values/json-text.ts'
import type { WebhookWrite, WebhookWriteConflict } from './webhook-writes.ts'

/** One write inside a transaction, as plain data that can be sent to another thread. */
export type Write =
  /**
   * Inserts the record. Conflicts with a live record with this id (executing, or `expiresAt > now`); replaces an
   * expired one.
   */
  | { readonly type: 'idempotency.reserve'; readonly record: IdempotencyRecord; readonly now: EpochMs }
  /**
   * Stores the response in the records that wait for this run; a no-op if no record waits or all have a response. With
   * `unlessPatientAt`, leaves out records whose `patientUntil` is later.
   */
  | {
      readonly type: 'idempotency.complete'
      readonly runId: string
      readonly response: StoredResponse
      readonly unlessPatientAt?: EpochMs | undefined
    }
  /**
   * Stores the response in every record that has no run and still counts as executing: the process that executed it
   * died. With `executor`, only in records of this process, or with `nobody` in those that name none: a process that had the
   * storage for itself has left them. Without it, only valid at startup of the only process, before any request executes.
   */
  | {
      readonly type: 'idempotency.interrupt'
      readonly response: StoredResponse
      readonly executor?: string | { readonly nobody: true } | undefined
    }
  /** Deletes up to `limit` records that have a response and `expiresAt <= now`. */
  | { readonly type: 'idempotency.prune'; readonly now: EpochMs; readonly limit: number }
  /** Conflicts when the run already has a call with this `seq`. */
  | { readonly type: 'step.insert'; readonly step: StepRecord }
  /**
   * Copies calls of the run `source` to the run, with this attempt and these `endOrder`, without their usage. The results do not
   * pass through the process. Conflicts when the source has no such call, or when the run already has a call with the `seq`.
   */
  | {
      readonly type: 'step.copy'
      readonly runId: string
      readonly attempt: number
      readonly source: string
      readonly calls: readonly Pick<Required<StepRecord>, 'seq' | 'endOrder'>[]
    }
  /**
   * Changes the call if its status is `from`; conflicts otherwise. A change to `completed` or `failed` also assigns the
   * next `endOrder` of the run. A change to `started` also removes `result`, `error`, `dueAt`, `endedAt` and `endOrder`,
   * except for those that it sets, because the call executes again.
   */
  | {
      readonly type: 'step.change'
      readonly runId: string
      readonly seq: number
      readonly from: StepStatus
      readonly change: StepChange
    }
  /**
   * Conflicts unless all of these calls are still waiting; the conflict names the first call that is not. A run can be
   * suspended only while none of its waits has ended.
   */
  | { readonly type: 'step.fence'; readonly runId: string; readonly seqs: readonly number[] }
  /** Conflicts when the id is taken. */
  | { readonly type: 'approval.insert'; readonly approval: ApprovalRecord }
  /** Conflicts unless the approval is pending. */
  | { readonly type: 'approval.resolve'; readonly id: string; readonly resolution: ApprovalResolution }
  /** Removes `remindAt`, and sets the assignee if given. Conflicts unless the approval is pending and has a `remindAt`. */
  | { readonly type: 'approval.remind'; readonly id: string; readonly assignee?: string | undefined }
  /**
   * Conflicts unless all of these approvals are pending; the conflict names the first approval that is not. A decision
   * that leaves its run suspended holds only while the other approvals are undecided: put the fence behind the
   * `run.transition` of the run, so that of two concurrent decisions the second one conflicts.
   */
  | { readonly type: 'approval.fence'; readonly ids: readonly string[] }
  /** Conflicts when the id is taken. */
  | { readonly type: 'emission.insert'; readonly part: EmissionPart }
  /** Removes the part; conflicts if it is gone because another caller has already delivered it. */
  | { readonly type: 'emission.finish'; readonly id: string }
  | { readonly type: 'event.append'; readonly events: readonly NewEvent[] }
  /**
   * Deletes up to `limit` of the oldest events, stopping at the first event that is not before `before`. Keeps events
   * of queued, running and suspended runs. Sets `trimmedThrough` to the last deleted event. Never conflicts; its count
   * is the number of deleted events.
   */
  | { readonly type: 'event.trim'; readonly before: EpochMs; readonly limit: number }
  /** Deletes the events at these positions. Never conflicts; its count is the number of deleted events. */
  | { readonly type: 'event.delete'; readonly positions: readonly number[] }
  /** Conflicts when the id is taken. */
  | { readonly type: 'session.insert'; readonly session: SessionRecord }
  /** Changes the session and sets `updatedAt` if all fields that can change equal those of `from`; conflicts otherwise. */
  | {
      readonly type: 'session.update'
      readonly id: string
      readonly from: ChangingSession
      readonly change: SessionChange
      readonly at: EpochMs
    }
  /** Sets `updatedAt`; a no-op for an unknown session. */
  | { readonly type: 'session.touch'; readonly id: string; readonly at: EpochMs }
  /**
   * Deletes the session with its chat, messages, events and jobs, the files that only it holds, and its runs with their calls,
   * approvals and events. Stored
   * responses with content of these rows are replaced with `answer`, so that their idempotency keys stay reserved.
   * Facts and fires are kept, without their references to the deleted rows, and the runs still count in the usage of their
   * owners. Conflicts when there is no such session,
   * and while one of its runs is queued, running or suspended. With `idleSince`, also conflicts when the session was
   * active after that instant, and advances `trimmedThrough` past the events it removes.
   */
  | {
      readonly type: 'session.delete'
      readonly id: string
      readonly answer: StoredResponse
      readonly idleSince?: EpochMs | undefined
    }
  /**
   * Appends to the transcript with the next `seq` and sets the session's `updatedAt`. Conflicts if the session is
   * missing. With `brief`, and if the session is a chat of this agent, the message is the newest one of the chat; its
   * `updatedAt` never moves back.
   */
  | { readonly type: 'message.append'; readonly message: NewMessage; readonly brief?: MessageBrief | undefined }
  /**
   * Changes the content of the newest message in the session that a user has sent to the run. Reads no contents. Never
   * conflicts; its count is 0 if the session has no such message.
   */
  | { readonly type: 'message.replace'; readonly sessionId: string; readonly runId: string; readonly content: JsonText }
  /**
   * Conflicts when the id or the digest is taken. Also conflicts, naming the parent, when the parent is missing,
   * revoked or expired at `createdAt`.
   */
  | { readonly type: 'token.insert'; readonly token: TokenRecord }
  /**
   * Revokes the token, all its descendants, and every token that one of these has replaced: sets `revokedAt`, but keeps
   * the time of an earlier revocation. Conflicts when there is no such token. Its count is the number of changed
   * tokens.
   */
  | { readonly type: 'token.revoke'; readonly id: string; readonly at: EpochMs }
  /**
   * Retires a token in favour of its replacement: sets `replacedBy`. If `until` is `at`, also sets `revokedAt`;
   * otherwise lowers `expiresAt` to `until` if that is earlier. Tokens that the retired token minted become descendants
   * of the replacement and expire no later than the replacement. Conflicts unless the token exists and is not revoked,
   * not expired at `at` and not replaced.
   */
  | {
      readonly type: 'token.retire'
      readonly id: string
      readonly replacedBy: string
      readonly at: EpochMs
      readonly until: EpochMs
    }
  /**
   * Sets the digest to `to` if it is still `from`; a no-op otherwise. Conflicts when another token has the digest `to`.
   */
  | { readonly type: 'token.rehash'; readonly id: string; readonly from: string; readonly to: string }
  /** Sets `lastUsedAt`; a no-op for an unknown token. */
  | { readonly type: 'token.touch'; readonly id: string; readonly at: EpochMs }
  /**
   * Deletes up to `limit` tokens that expired or were revoked before `before`. Keeps a token while a token that it
   * minted or the token that replaced it is stored. With `subject`, deletes only tokens of this subject. Never conflicts;
   * its count is the number of deleted tokens.
   */
  | {
      readonly type: 'token.prune'
      readonly before: EpochMs
      readonly limit: number
      readonly subject?: string | undefined
    }
  /**
   * Appends to the audit chain and moves its head, using `appendEntry`. If an entry with the same `source` was already
   * appended and its source was not released since, appends nothing. Never conflicts; its count is the number of
   * appended links.
   */
  | {
      readonly type: 'audit.append'
      readonly entry: NewAuditEntry
      /** Keys that sign the head; without keys, the head has only a checksum. */
      readonly keys?: AuditKeys | undefined
      readonly source?: string | undefined
      /** Whether to append `audit.appended` to the event log as well. */
      readonly publish?: boolean | undefined
      /**
       * The request that performed the action. Not stored: the request log uses this object as its key, so pass the
       * same object, not a copy.
       */
      readonly origin?: RequestOrigin | undefined
    }
  /**
   * Stores an entry for a chain in another database, in the same commit as the action. Never conflicts; its count is 0
   * if an entry with this key was stored before.
   */
  | { readonly type: 'audit.stage'; readonly key: string; readonly entry: NewAuditEntry }
  /**
   * Removes the entries staged under these keys and releases the keys as sources of `audit.append`. Never conflicts.
   */
  | { readonly type: 'audit.release'; readonly keys: readonly string[] }
  /**
   * Removes the entries up to and including `throughSeq` and signs that location as the base. Never conflicts; its
   * count is the number of removed entries, 0 when no entry has that `seq`.
   */
  | { readonly type: 'audit.prune'; readonly throughSeq: number; readonly keys?: AuditKeys | undefined }
  /** Conflicts when the id is taken. */
  | { readonly type: 'mcp-server.insert'; readonly server: McpServerRecord }
  /** Conflicts when there is no such server. */
  | { readonly type: 'mcp-server.delete'; readonly id: string }
  | RunWrite
  | LaneWrite
  | MemoryWrite
  | ConsolidatorWrite
  | WebhookWrite
  | HookWrite
  | FileWrite
  | TriggerWrite
  | ChatWrite
  | SubjectWrite

/** The request that performs an action, for the audit chain. */
export interface RequestOrigin {
  readonly requestId: string
  readonly method: string
  readonly route: string // route pattern, with the base path
  readonly ip: string
}

export type WriteType = Write['type']

/** The write that could not be applied, and the record with which it conflicts, if such a record exists. */
export type Conflict =
  | { readonly type: 'idempotency.reserve'; readonly current: IdempotencyRecord }
  | {
      readonly type: 'step.insert' | 'step.copy' | 'step.change' | 'step.fence'
      readonly current?: StepRecord | undefined
    }
  | {
      readonly type: 'approval.insert' | 'approval.resolve' | 'approval.remind' | 'approval.fence'
      readonly current?: ApprovalRecord | undefined
    }
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
  | RunWriteConflict
  | LaneWriteConflict
  | MemoryWriteConflict
  | ConsolidatorWriteConflict
  | WebhookWriteConflict
  | HookWriteConflict
  | FileWriteConflict
  | TriggerWriteConflict
  | ChatWriteConflict

export type CommitOutcome =
  | {
      readonly committed: true
      /** All events of the transaction, in write order, with their positions. */
      readonly events: readonly StoredEvent[]
      /** Number of rows changed by each write. */
      readonly counts: readonly number[]
    }
  | { readonly committed: false; readonly index: number; readonly conflict: Conflict }

/** Port. The only way to write. Must pass `unitOfWorkContract`. */
export interface UnitOfWork {
  /**
   * Applies all writes in order in one transaction, or none of them. Resolves when the outcome is durable. The first
   * conflict rolls everything back and is returned as a value. Concurrent commits are serialized: event positions and
   * the order in which the promises resolve follow the commit order. Readers may see a commit before its promise
   * resolves, but never before it is durable.
   *
   * @throws PerdureError `storage-full`, `storage-unavailable`, or `storageBusy`: nothing was written; `storage-failed`: the
   *   outcome is unknown.
   */
  commit(writes: readonly Write[]): Promise<CommitOutcome>
}
