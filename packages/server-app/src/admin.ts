export { type AuditRestore, openAuditRestore } from './start/audit-restore.ts'
export { type DatabaseInspection, inspectDatabase, migrateDatabase } from './start/database-admin.ts'
export { type Move, type Moved, type MoveToPostgres, moveToPostgres } from './start/move-to-postgres.ts'
export { auditEncryption, storageEncryption } from './start/storage-encryption.ts'
