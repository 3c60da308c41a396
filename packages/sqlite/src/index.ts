export type { AppliedMigration } from './applied-migration.ts'
export {
  type AuditFile,
  type BackupCheck,
  type BackupManifest,
  createBackup,
  verifyBackup,
  verifyDatabase,
} from './backup.ts'
export type { DatabaseCheck } from './check-database.ts'
export { checkEncryptionPeer } from './check-encryption-peer.ts'
export type { Encryption } from './encryption.ts'
export type { HostCounters } from './host/host-counters.ts'
export { type MigrationStatus, migrate, migrationStatus } from './migration-status.ts'
export { openSqliteStorage, type SqliteStorage, type SqliteStorageOptions } from './open-sqlite-storage.ts'
export { type Restored, restoreBackup } from './restore.ts'
export { vacuum } from './vacuum.ts'
