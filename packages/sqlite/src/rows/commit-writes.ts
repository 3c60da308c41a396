import type { CommitOutcome, StoredEvent, Write, WriteType } from '@perdure/ports'
import type { Connection } from '../file/connection.ts'
import { approvalWrites } from './approval-writes.ts'
import { auditWrites } from './audit-writes.ts'
import { blockWrites } from './block-store.ts'
import { consolidationWrites } from './consolidation-store.ts'
import { deliveryWrites } from './delivery-writes.ts'
import { emissionWrites } from './emission-store.ts'
import { eventWrites } from './event-writes.ts'
import { factWrites } from './fact-writes.ts'
import { fireWrites } from './fire-writes.ts'
import { idempotencyWrites } from './idempotency-writes.ts'
import { jobWrites } from './job-writes.ts'
import { laneWrites } from './lane-store.ts'
import { mcpServerWrites } from './mcp-server-store.ts'
import { memoryConflictWrites } from './memory-conflict-store.ts'
import { retentionWrites } from './retention-writes.ts'
import { runWrites } from './run-writes.ts'
import { sessionDeletion } from './session-deletion.ts'
import { sessionWrites } from './session-writes.ts'
import { stepWrites } from './step-writes.ts'
import { threadWrites } from './thread-writes.ts'
import { tokenWrites } from './token-writes.ts'
import { triggerWrites } from './trigger-writes.ts'
import { webhookWrites } from './webhook-store.ts'
import type { Transaction, WriteAppliers, WriteOf } from './write-applier.ts'

/** Applies the writes in order up to the first conflict. After a conflict or an error the host rolls back. */
export function commitWrites(db: Connection, writes: readonly Write[]): CommitOutcome {
  const events: StoredEvent[] = []
  const counts: number[] = []
  const tx: Transaction = { db, events }
  for (const [index, write] of writes.entries()) {
    const applied = applyWrite(write.type, tx, write)
    if (typeof applied !== 'number') return { committed: false, index, conflict: applied }
    counts.push(applied)
  }
  return { committed: true, events, counts }
}

const APPLIERS: WriteAppliers = {
  ...runWrites,
  ...laneWrites,
  ...stepWrites,
  ...approvalWrites,
  ...emissionWrites,
  ...eventWrites,
  ...idempotencyWrites,
  ...sessionWrites,
  ...sessionDeletion,
  ...tokenWrites,
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
}

const applyWrite = <Type extends WriteType>(type: Type, tx: Transaction, write: WriteOf<Type>) =>
  APPLIERS[type](tx, write)
