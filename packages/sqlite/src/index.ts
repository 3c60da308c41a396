export {
  type AuditFile,
  type BackupCheck,
  type BackupManifest,
  createBackup,
  verifyBackup,
  verifyDatabase,
} from './backup.ts'
export type { DatabaseCheck } from './check-database.ts'
export type { HostCounters } from './host/host.ts'
export type { AppliedMigration } from './migrate.ts'
export { type MigrationStatus, migrate, migrationStatus } from './migration-status.ts'
export { checkEncryptionPeer, type Encryption } from './open-database.ts'
export { openSqliteStorage, type SqliteStorage, type SqliteStorageOptions } from './open-sqlite-storage.ts'
export { type Restored, restoreBackup } from './restore.ts'
export { vacuum } from './vacuum.ts'
