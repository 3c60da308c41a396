import { checkpointLogContract } from '@perdure/testkit'
import { createInMemoryCheckpointLog } from './in-memory-checkpoint-log.ts'

checkpointLogContract({ name: 'in memory', open: async () => createInMemoryCheckpointLog() })
