import type { AuditKeys, AuditLog, CheckpointLog, Clock, UnitOfWork } from '@perdure/ports'

export interface PruneAuditDeps {
  readonly chain: Pick<AuditLog, 'read'>
  /** Unit of work of the database that holds the chain. */
  readonly unitOfWork: UnitOfWork
  readonly checkpoints?: CheckpointLog | undefined
  readonly keys: AuditKeys
  readonly clock: Clock
  readonly pause: () => Promise<void>
  readonly retentionDays: number
}

const PAGE = 500
const DAY_MS = 86_400_000

/**
 * Removes entries older than the retention period. If there are checkpoints, the cut is at a checkpoint, so that the
 * start of the remaining chain can still be verified independently. Appends an `audit.prune` entry in the same commit.
 */
export async function pruneAudit(deps: PruneAuditDeps): Promise<number> {
  const { unitOfWork, keys, clock } = deps
  const oldThrough = await lastOlderThan(deps, clock.now() - deps.retentionDays * DAY_MS)
  const throughSeq = await lastCheckpointUpTo(deps, oldThrough)
  if (throughSeq === 0) return 0
  const outcome = await unitOfWork.commit([
    { type: 'audit.prune', throughSeq, keys },
    {
      type: 'audit.append',
      keys,
      entry: {
        at: clock.now(),
        actor: { kind: 'system', subject: 'audit' },
        action: 'audit.prune',
        decision: 'allowed',
        detail: { through: throughSeq },
      },
    },
  ])
  return outcome.committed ? (outcome.counts[0] ?? 0) : 0
}

/** `seq` of the entry before the first entry at or after `cutoff`; 0 if there is no such entry. */
async function lastOlderThan({ chain, pause }: PruneAuditDeps, cutoff: number): Promise<number> {
  let last = 0
  for (;;) {
    const entries = await chain.read({ afterSeq: last, limit: PAGE })
    for (const { seq, at } of entries) {
      if (at >= cutoff) return last
      last = seq
    }
    if (entries.length < PAGE) return last
    await pause()
  }
}

async function lastCheckpointUpTo({ checkpoints, chain }: PruneAuditDeps, seq: number): Promise<number> {
  if (checkpoints === undefined || seq === 0) return seq
  let cut = 0
  for await (const { checkpoint } of checkpoints.read()) {
    if (checkpoint !== undefined && checkpoint.seq <= seq) cut = Math.max(cut, checkpoint.seq)
  }
  const [first] = await chain.read({ afterSeq: 0, limit: 1 })
  return first !== undefined && cut >= first.seq ? cut : 0
}
