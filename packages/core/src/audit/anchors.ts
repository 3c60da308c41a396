import type { AuditCheckpoint, AuditLink, CheckpointLine, CheckpointLog } from '@perdure/ports'

type Place = Pick<AuditLink, 'seq' | 'hash'>

/** The checkpoints beside the chain, walked in step with it and never held all at once. */
export interface Anchors {
  /** Whether every checkpoint at this place has its hash. Places are asked for in ascending order. */
  holdAt(place: Place): Promise<boolean>
  /** The highest checkpoint behind the last place, for what a chain has lost. */
  beyond(seq: number): Promise<AuditCheckpoint | undefined>
  /** The newest one that held. */
  newest(): AuditCheckpoint | undefined
  /** The first line that no key of ours vouches for. */
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
    async holdAt({ seq, hash }) {
      await start()
      while (upcoming !== undefined && upcoming.seq <= seq) {
        if (upcoming.seq === seq && upcoming.hash !== hash) return false
        if (upcoming.seq === seq) newest = upcoming
        await advance()
      }
      return true
    },
    async beyond(seq) {
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
