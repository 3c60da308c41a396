export type { HostCounters } from './host/host-counters.ts'
export type { TableCopy } from './import/copied-table.ts'
export { openPostgresImport, type PostgresImport, type PostgresImportOptions } from './import/open-postgres-import.ts'
export {
  inspectPostgres,
  type MigratePostgresOptions,
  migratePostgres,
  type PostgresInspection,
  type PostgresLocation,
} from './inspect-postgres.ts'
export { openPostgresReader } from './open-postgres-reader.ts'
export { openPostgresStorage, type PostgresStorage } from './open-postgres-storage.ts'
export type { OpenedSchema, PostgresStorageOptions } from './postgres-storage-options.ts'
