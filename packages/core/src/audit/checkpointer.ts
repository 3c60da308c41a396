import type { AuditCheckpoint, AuditLog, CheckpointLog, Clock, Logger, Timers } from '@perdure/ports'

export interface CheckpointerDeps {
  readonly chain: Pick<AuditLog, 'state' | 'links'>
  readonly checkpoints: CheckpointLog
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

/**
 * Stores the head of the chain outside the database: after 1,000 new entries, or every 60 seconds if there are new
 * entries.
 */
export interface Checkpointer {
  /** Finds the newest checkpoint and checks that the chain still contains it. */
  start(): Promise<void>
  /** Counts appended entries; writes a checkpoint after 1,000. */
  countAppended(count: number): void
  /** Writes a checkpoint now if the chain has new entries. */
  checkpoint(): Promise<void>
  /** Describes a mismatch between the chain and its checkpoints, lost checkpoints, or a failure to write one. */
  problem(): string | undefined
  stop(): void
}

const EVERY_ENTRIES = 1_000
const EVERY_MS = 60_000

export function createCheckpointer({ chain, checkpoints, clock, timers, logger }: CheckpointerDeps): Checkpointer {
  let newest: AuditCheckpoint | undefined
  let problem: string | undefined
  let pending = 0
  let writing: Promise<void> = Promise.resolve()
  let cancel = () => {}

  const report = (message: string, error?: unknown) => {
    if (problem !== message) logger.error(message, error ?? new Error(message))
    problem = message
  }

  const checkIntact = async () => {
    if (!(await checkpoints.isIntact())) report(LOST)
  }

  const write = async () => {
    pending = 0
    const { last } = await chain.state()
    if (last === undefined || last.seq === newest?.seq) return checkIntact()
    if (last.seq < (newest?.seq ?? 0)) return report(MISMATCH)
    const checkpoint = { seq: last.seq, hash: last.hash, at: clock.now() }
    await checkpoints.append(checkpoint)
    newest = checkpoint
    if (problem === UNWRITABLE) problem = undefined
    await checkIntact()
  }

  const checkpoint = () => {
    writing = writing.then(write).catch((error: unknown) => report(UNWRITABLE, error))
    return writing
  }

  const rearm = () => {
    cancel = timers.after(EVERY_MS, () => {
      rearm()
      void checkpoint()
    })
  }

  return {
    async start() {
      for await (const { checkpoint } of checkpoints.read()) {
        if (checkpoint !== undefined && checkpoint.seq >= (newest?.seq ?? 0)) newest = checkpoint
      }
      if (newest !== undefined && !(await isInChain(chain, newest))) report(MISMATCH)
      rearm()
    },
    countAppended(count) {
      pending += count
      if (pending >= EVERY_ENTRIES) void checkpoint()
    },
    checkpoint,
    problem: () => problem,
    stop: () => cancel(),
  }
}

const MISMATCH = 'the audit chain does not match its newest checkpoint: run perdure audit verify'
const LOST =
  'audit checkpoints were removed or replaced while the server ran: put the checkpoint file back and restart the server'
const UNWRITABLE = 'audit checkpoints cannot be written'

async function isInChain(chain: CheckpointerDeps['chain'], { seq, hash }: AuditCheckpoint): Promise<boolean> {
  const { base } = await chain.state()
  if (base?.seq === seq) return base.hash === hash
  const [link] = await chain.links({ afterSeq: seq - 1, limit: 1 })
  return link?.seq === seq && link.hash === hash
}
