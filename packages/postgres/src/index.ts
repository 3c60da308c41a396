export type { HostCounters } from './host/host-counters.ts'
export { openPostgresStorage, type PostgresStorage, type PostgresStorageOptions } from './open-postgres-storage.ts'
