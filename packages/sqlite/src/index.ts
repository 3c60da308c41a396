export type { HostCounters } from './host/host.ts'
export type { AppliedMigration } from './migrate.ts'
export { type MigrationStatus, migrate, migrationStatus } from './migration-status.ts'
export { openSqliteStorage, type SqliteStorage, type SqliteStorageOptions } from './open-sqlite-storage.ts'
