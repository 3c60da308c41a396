export type { AppliedMigration, SchemaChange } from './file/applied-migration.ts'
export { type AuditChainFile, appendToAuditChain, openAuditChainFile } from './file/audit-chain-file.ts'
export {
  type AuditFile,
  auditCopyOf,
  type BackupCheck,
  type BackupManifest,
  createBackup,
  verifyBackup,
  verifyDatabase,
} from './file/backup.ts'
export type { DatabaseCheck } from './file/check-database.ts'
export { checkEncryptionPeer } from './file/check-encryption-peer.ts'
export type { Encryption } from './file/encryption.ts'
export {
  type ExportedValue,
  openSqliteExport,
  type SqliteExport,
  type SqliteExportOptions,
} from './file/export-database.ts'
export type { ExportedTable } from './file/exported-table.ts'
export {
  type Migrated,
  type MigrationStatus,
  migrate,
  migrationStatus,
  type SchemaVersion,
  schemaVersion,
} from './file/migration-status.ts'
export { isKeptCopyOf, isRescueOf } from './file/rescued-copy.ts'
export { type RestoreResult, restoreBackup } from './file/restore.ts'
export { requireSingleName } from './file/single-name.ts'
export { vacuum } from './file/vacuum.ts'
export type { HostCounters } from './host/host-counters.ts'
export { openSqliteReader, type SqliteReaderOptions } from './open-sqlite-reader.ts'
export {
  type OpenedDatabase,
  openSqliteStorage,
  type SqliteStorage,
  type SqliteStorageOptions,
} from './open-sqlite-storage.ts'
