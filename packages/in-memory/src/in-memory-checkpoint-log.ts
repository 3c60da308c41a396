import type { AuditCheckpoint, CheckpointLog } from '@perdure/ports'

/** Checkpoints in memory, unsigned: nobody else gets at them. */
export function createInMemoryCheckpointLog(): CheckpointLog {
  const checkpoints: AuditCheckpoint[] = []

  return {
    append: async (checkpoint) => void checkpoints.push({ ...checkpoint }),
    async *read() {
      for (const [index, checkpoint] of checkpoints.entries()) yield { number: index + 1, checkpoint }
    },
  }
}
