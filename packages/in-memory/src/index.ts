export { createInMemoryCheckpointLog } from './in-memory-checkpoint-log.ts'
export { createInMemoryMeter, type InMemoryMeter } from './in-memory-meter.ts'
export { createInMemoryStorage, type InMemoryStorageOptions } from './in-memory-storage.ts'
