import type { ApprovalStore } from './approval-store.ts'
import type { AuditLog } from './audit-log.ts'
import type { BlockStore } from './block-store.ts'
import type { ChatStore } from './chat-store.ts'
import type { Cluster } from './cluster.ts'
import type { ConsolidationStore } from './consolidation-store.ts'
import type { DeliveryStore } from './delivery-store.ts'
import type { EmissionStore } from './emission-store.ts'
import type { EventLog } from './event-log.ts'
import type { FactStore, FactUpkeep } from './fact-store.ts'
import type { FileStore } from './file-store.ts'
import type { FireStore } from './fire-store.ts'
import type { HookDeliveryStore } from './hook-delivery-store.ts'
import type { IdempotencyStore } from './idempotency-store.ts'
import type { JobQueue } from './job-queue.ts'
import type { LaneStore } from './lane-store.ts'
import type { LockoutStore } from './lockout-store.ts'
import type { LogTail } from './log-tail.ts'
import type { McpServerStore } from './mcp-server-store.ts'
import type { MemoryConflictStore } from './memory-conflict-store.ts'
import type { NodeDirectory } from './node-directory.ts'
import type { RunStore } from './run-store.ts'
import type { RunTimers } from './run-timers.ts'
import type { SessionStore } from './session-store.ts'
import type { StepStore } from './step-store.ts'
import type { SubjectRevocationStore } from './subject-revocation-store.ts'
import type { TicketStore } from './ticket-store.ts'
import type { TokenStore } from './token-store.ts'
import type { TriggerStore } from './trigger-store.ts'
import type { UnitOfWork } from './unit-of-work.ts'
import type { WebhookStore } from './webhook-store.ts'

/** Data for the storage check of the health document. Sizes are in bytes, 0 when there is no file. */
export interface StorageStatus {
  readonly writable: boolean
  readonly walBytes: number
  readonly dbBytes: number
  /** Recently measured free space on the disk of the file; absent when unknown. */
  readonly freeBytes?: number | undefined
  readonly message?: string | undefined
  /** Whether a storage that has failed still saves its content. The process must not end before. */
  readonly isSaving?: boolean | undefined
  /** Absent for a file. */
  readonly server?: StorageServerStatus | undefined
}

/** The use of a database server by this process. The counts begin when the storage is opened. */
export interface StorageServerStatus {
  /** Connections for reads, and reads that wait for one. */
  readonly connections: { readonly busy: number; readonly idle: number; readonly waiting: number }
  readonly commits: number
  readonly transactions: number
  /** Commits whose answer was lost, so that their outcome had to be looked up. */
  readonly unknownCommits: number
  /** Connections to a server that is behind one that was seen before, such as a replaced primary. */
  readonly refusedConnections: number
  /** Transactions that were executed again, by the code of their error. */
  readonly retries: Readonly<Record<string, number>>
}

/** Every storage port of one adapter. The adapter's factory opens the storage; the caller of the factory closes it. */
export interface Storage {
  readonly unitOfWork: UnitOfWork
  readonly runs: RunStore
  readonly runTimers: RunTimers
  readonly lanes: LaneStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly emissions: EmissionStore
  readonly events: EventLog
  readonly idempotency: IdempotencyStore
  readonly sessions: SessionStore
  readonly chats: ChatStore
  readonly tokens: TokenStore
  readonly subjectRevocations: SubjectRevocationStore
  readonly audit: AuditLog
  readonly triggers: TriggerStore
  readonly fires: FireStore
  readonly mcpServers: McpServerStore
  readonly facts: FactStore
  readonly factUpkeep: FactUpkeep
  readonly blocks: BlockStore
  readonly memoryConflicts: MemoryConflictStore
  readonly jobs: JobQueue
  readonly consolidation: ConsolidationStore
  readonly webhooks: WebhookStore
  readonly deliveries: DeliveryStore
  readonly hookDeliveries: HookDeliveryStore
  readonly files: FileStore
  /** Follows the commits of every process. Missing if no other process writes while this storage is open. */
  readonly tail?: LogTail | undefined
  /** WebSocket tickets that every process can take. Missing if no other process uses this storage. */
  readonly tickets?: TicketStore | undefined
  /** Failed attempts that all processes count together. Missing if no other process uses this storage. */
  readonly lockouts?: LockoutStore | undefined
  /** The processes that share the storage. Missing if no other process uses the storage. */
  readonly cluster?: Cluster | undefined
  /** The same processes, for operators. Present exactly if `cluster` is. */
  readonly nodes?: NodeDirectory | undefined
  /** Reads at most one row; never waits for a writer. */
  status(): Promise<StorageStatus>
  /** Waits for commits in progress, then releases the files. Idempotent. */
  close(): Promise<void>
}
