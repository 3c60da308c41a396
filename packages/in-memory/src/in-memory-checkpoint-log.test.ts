import { checkpointLogContract } from '@perdure/testkit'
import { createInMemoryCheckpointLog, type InMemoryCheckpointLog } from './in-memory-checkpoint-log.ts'

checkpointLogContract({
  name: 'in memory',
  open: async () => createInMemoryCheckpointLog(),
  clear: async (log) => (log as InMemoryCheckpointLog).clear(),
})
