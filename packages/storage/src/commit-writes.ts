import type { Conflict, Write, WriteType } from '@perdure/ports'
import { approvalWrites } from './approvals/approval-writes.ts'
import { auditWrites } from './audit/audit-writes.ts'
import { chatWrites } from './chats/chat-writes.ts'
import { emissionWrites } from './events/emission-store.ts'
import { fileWrites } from './files/file-writes.ts'
import { hookDeliveryWrites } from './hooks/hook-delivery-writes.ts'
import { idempotencyWrites } from './keys/idempotency-writes.ts'
import { mcpServerWrites } from './mcp/mcp-server-store.ts'
import { blockWrites } from './memory/block-store.ts'
import { consolidationWrites } from './memory/consolidation-store.ts'
import { factWrites } from './memory/fact-writes.ts'
import { jobWrites } from './memory/job-writes.ts'
import { memoryConflictWrites } from './memory/memory-conflict-store.ts'
import type { Program } from './program.ts'
import { laneWrites } from './runs/lane-store.ts'
import { retentionWrites } from './runs/retention-writes.ts'
import { runWrites } from './runs/run-writes.ts'
import { usageWrites } from './runs/subject-usage.ts'
import { threadWrites } from './runs/thread-writes.ts'
import { sessionDeletion } from './sessions/session-deletion.ts'
import { sessionWrites } from './sessions/session-writes.ts'
import { stepWrites } from './steps/step-writes.ts'
import { subjectRevocationWrites } from './tokens/subject-revocation-store.ts'
import { tokenWrites } from './tokens/token-writes.ts'
import type { Transaction, WriteAppliers, WriteOf } from './transaction.ts'
import { fireWrites } from './triggers/fire-writes.ts'
import { triggerWrites } from './triggers/trigger-writes.ts'
import { deliveryWrites } from './webhooks/delivery-writes.ts'
import { webhookWrites } from './webhooks/webhook-store.ts'

export type AppliedWrites =
  | { readonly committed: true; readonly counts: readonly number[] }
  | { readonly committed: false; readonly index: number; readonly conflict: Conflict }

/** Applies the writes in order up to the first conflict. After a conflict or an error the caller rolls back. */
export function* applyWrites(tx: Transaction, writes: readonly Write[]): Program<AppliedWrites> {
  const counts: number[] = []
  for (const [index, write] of writes.entries()) {
    if (DELETES_EVENTS.has(write.type)) yield* tx.flush()
    const applied = yield* applyWrite(write.type, tx, write)
    if (typeof applied !== 'number') return { committed: false, index, conflict: applied }
    counts.push(applied)
  }
  yield* tx.flush()
  return { committed: true, counts }
}

/** Writes that also delete events which the same commit has appended before. */
const DELETES_EVENTS: ReadonlySet<WriteType> = new Set<WriteType>([
  'event.trim',
  'run.prune',
  'session.delete',
  'thread.delete',
])

const APPLIERS: WriteAppliers = {
  // biome-ignore lint/correctness/useYield: a program that asks for nothing
  *'event.append'({ append }, { events }) {
    append(events)
    return events.length
  },
  ...runWrites,
  ...usageWrites,
  ...laneWrites,
  ...stepWrites,
  ...approvalWrites,
  ...emissionWrites,
  ...idempotencyWrites,
  ...sessionWrites,
  ...sessionDeletion,
  ...chatWrites,
  ...tokenWrites,
  ...subjectRevocationWrites,
  ...threadWrites,
  ...retentionWrites,
  ...auditWrites,
  ...triggerWrites,
  ...fireWrites,
  ...mcpServerWrites,
  ...factWrites,
  ...blockWrites,
  ...memoryConflictWrites,
  ...jobWrites,
  ...consolidationWrites,
  ...webhookWrites,
  ...deliveryWrites,
  ...hookDeliveryWrites,
  ...fileWrites,
}

const applyWrite = <Type extends WriteType>(type: Type, tx: Transaction, write: WriteOf<Type>) =>
  APPLIERS[type](tx, write)
