import Database from 'better-sqlite3'
import { openConnection } from './connection.ts'
import { inspectDatabase } from './inspect-database.ts'
import { takeLease } from './lease.ts'
import { type AppliedMigration, appliedMigrations, applyMigrations, pendingMigrations } from './migrate.ts'
import { MIGRATIONS } from './migrations/migrations.ts'
import { createPrivateFile, fileSize, preparePath } from './private-file.ts'
import { translateStartError } from './sqlite-error.ts'

export interface MigrationStatus {
  readonly applied: readonly AppliedMigration[]
  readonly pending: readonly { readonly version: number; readonly name: string }[]
}

/** What was applied to the file and what is left. Only reads; a missing file is not created. @throws StartError */
export async function migrationStatus(path: string): Promise<MigrationStatus> {
  if (fileSize(path) === 0) return { applied: [], pending: MIGRATIONS.map(toSummary) }
  inspectDatabase(path, { checkAfterCrash: false })
  const database = new Database(path, { readonly: true, fileMustExist: true })
  try {
    return { applied: appliedMigrations(database), pending: pendingMigrations(database).map(toSummary) }
  } finally {
    database.close()
  }
}

/** Applies what is pending without serving; needs the lease. @throws StartError */
export async function migrate(path: string, now: () => number = Date.now): Promise<MigrationStatus> {
  const file = preparePath(path)
  const lease = takeLease(file)
  try {
    inspectDatabase(file, { checkAfterCrash: true })
    createPrivateFile(file)
    const { database } = openConnection(file)
    try {
      applyMigrations(database, { path: file, now })
      return { applied: appliedMigrations(database), pending: [] }
    } finally {
      database.close()
    }
  } catch (error) {
    throw translateStartError(error, file)
  } finally {
    lease.release()
  }
}

const toSummary = ({ version, name }: { readonly version: number; readonly name: string }) => ({ version, name })
