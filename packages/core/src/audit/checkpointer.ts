import type { AuditCheckpoint, AuditLog, CheckpointLog, Clock, Logger, Timers } from '@perdure/ports'

export interface CheckpointerDeps {
  readonly chain: Pick<AuditLog, 'state' | 'links'>
  readonly checkpoints: CheckpointLog
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
}

/** Writes down outside the database what the chain is: every 1,000 entries, or 60 seconds after the first news. */
export interface Checkpointer {
  /** Looks up the newest checkpoint, and whether the chain still reaches up to it. */
  start(): Promise<void>
  /** Entries were appended. */
  noted(count: number): void
  /** Writes a checkpoint now if there is news. */
  checkpoint(): Promise<void>
  /** Why the chain and its checkpoints do not fit, or cannot be written. */
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

  const raise = (message: string, error?: unknown) => {
    if (problem === undefined) logger.error(message, error ?? new Error(message))
    problem = message
  }

  const write = async () => {
    pending = 0
    const { last } = await chain.state()
    if (last === undefined || last.seq === newest?.seq) return
    if (last.seq < (newest?.seq ?? 0)) return raise(BEHIND)
    const checkpoint = { seq: last.seq, hash: last.hash, at: clock.now() }
    await checkpoints.append(checkpoint)
    newest = checkpoint
    if (problem === UNWRITABLE) problem = undefined
  }

  const checkpoint = () => {
    writing = writing.then(write).catch((error: unknown) => raise(UNWRITABLE, error))
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
      if (newest !== undefined && !(await holds(chain, newest))) raise(BEHIND)
      rearm()
    },
    noted(count) {
      pending += count
      if (pending >= EVERY_ENTRIES) void checkpoint()
    },
    checkpoint,
    problem: () => problem,
    stop: () => cancel(),
  }
}

const BEHIND = 'the audit chain is not what its newest checkpoint says: verify it'
const UNWRITABLE = 'audit checkpoints cannot be written'

async function holds(chain: CheckpointerDeps['chain'], { seq, hash }: AuditCheckpoint): Promise<boolean> {
  const { base } = await chain.state()
  if (base?.seq === seq) return base.hash === hash
  const [link] = await chain.links({ afterSeq: seq - 1, limit: 1 })
  return link?.seq === seq && link.hash === hash
}
