import type { AuditCheckpoint, CheckpointLog } from '@perdure/ports'

export interface InMemoryCheckpointLog extends CheckpointLog {
  /** Removes every line, as another program can do with a file. */
  clear(): void
}

/** Keeps checkpoints in memory, unsigned because nobody else can access them. */
export function createInMemoryCheckpointLog(): InMemoryCheckpointLog {
  const checkpoints: AuditCheckpoint[] = []
  let isIntact = true

  return {
    isIntact: async () => isIntact,
    clear() {
      isIntact &&= checkpoints.length === 0
      checkpoints.length = 0
    },
    append: async (checkpoint) => void checkpoints.push({ ...checkpoint }),
    async *read() {
      for (const [index, checkpoint] of checkpoints.entries()) yield { number: index + 1, checkpoint }
    },
  }
}
