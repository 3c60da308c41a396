export { createInMemoryCheckpointLog } from './in-memory-checkpoint-log.ts'
export { createInMemoryMeter, type InMemoryMeter } from './in-memory-meter.ts'
export { createInMemorySkillStore, type InMemorySkill } from './in-memory-skill-store.ts'
export { createInMemoryStorage, type InMemoryStorageOptions } from './in-memory-storage.ts'
