import type { AuditCheckpoint, AuditLink, CheckpointLine, CheckpointLog } from '@perdure/ports'

type ChainLocation = Pick<AuditLink, 'seq' | 'hash'>

/** The checkpoints that a verification compares with the chain. Reads the checkpoint log as the walk proceeds. */
export interface Anchors {
  /** Whether every checkpoint at the location's `seq` has its hash. Must be called with ascending `seq`. */
  matchAt(location: ChainLocation): Promise<boolean>
  /**
   * The highest checkpoint after `seq`. If the chain ends at `seq`, this checkpoint shows that later entries are
   * missing from the chain.
   */
  highestAfter(seq: number): Promise<AuditCheckpoint | undefined>
  /** The newest checkpoint that matched. */
  newest(): AuditCheckpoint | undefined
  /** Number of the first line that is not signed with any of the server's keys. */
  forgedLine(): number | undefined
  close(): Promise<void>
}

/** @throws when the log cannot be read */
export function createAnchors(log: CheckpointLog | undefined): Anchors {
  const lines = log?.read()[Symbol.asyncIterator]()
  let upcoming: AuditCheckpoint | undefined
  let newest: AuditCheckpoint | undefined
  let forgedLine: number | undefined

  const advance = async () => {
    upcoming = undefined
    while (lines !== undefined && upcoming === undefined) {
      const { done, value } = (await lines.next()) as IteratorResult<CheckpointLine, undefined>
      if (done || value === undefined) return
      if (value.checkpoint === undefined) forgedLine ??= value.number
      upcoming = value.checkpoint
    }
  }
  let isStarted = false
  const start = async () => {
    if (!isStarted) await advance()
    isStarted = true
  }

  return {
    async matchAt({ seq, hash }) {
      await start()
      while (upcoming !== undefined && upcoming.seq <= seq) {
        if (upcoming.seq === seq && upcoming.hash !== hash) return false
        if (upcoming.seq === seq) newest = upcoming
        await advance()
      }
      return true
    },
    async highestAfter(seq) {
      await start()
      let highest: AuditCheckpoint | undefined
      for (; upcoming !== undefined; await advance()) {
        if (upcoming.seq > Math.max(seq, highest?.seq ?? 0)) highest = upcoming
      }
      return highest
    },
    newest: () => newest,
    forgedLine: () => forgedLine,
    close: async () => void (await lines?.return?.()),
  }
}
