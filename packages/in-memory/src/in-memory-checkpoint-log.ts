import type { AuditCheckpoint, CheckpointLog } from '@perdure/ports'

/** Keeps checkpoints in memory, unsigned because nobody else can access them. */
export function createInMemoryCheckpointLog(): CheckpointLog {
  const checkpoints: AuditCheckpoint[] = []

  return {
    append: async (checkpoint) => void checkpoints.push({ ...checkpoint }),
    async *read() {
      for (const [index, checkpoint] of checkpoints.entries()) yield { number: index + 1, checkpoint }
    },
  }
}
