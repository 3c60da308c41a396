import { openConnection, PAGE_BYTES } from './connection.ts'
import type { Encryption } from './encryption.ts'
import { inspectDatabase } from './inspect-database.ts'
import { takeLease } from './lease.ts'
import { databaseOpener } from './open-database.ts'
import { fileSize, preparePath } from './private-file.ts'
import { translateStartError } from './sqlite-error.ts'

/**
 * Gives the space of deleted rows back to the disk, and a file of larger pages those of a new one, unless it is encrypted; for a
 * moment the database is there twice. Sizes in bytes.
 *
 * @throws StartError `storage-locked` while a server holds the file
 */
export async function vacuum(
  path: string,
  { encryption }: { readonly encryption?: Encryption | undefined } = {},
): Promise<{ readonly bytesBefore: number; readonly bytesAfter: number }> {
  const open = await databaseOpener(encryption)
  const file = preparePath(path)
  const lease = takeLease(file)
  try {
    inspectDatabase(file, { checkAfterCrash: true, open })
    const bytesBefore = fileSize(file)
    const { database } = openConnection(file, { open })
    try {
      // Pages change their size only without a write-ahead log.
      database.pragma('journal_mode = DELETE')
      database.pragma(`page_size = ${PAGE_BYTES}`)
      database.exec('VACUUM')
      database.pragma('journal_mode = WAL')
      database.pragma('wal_checkpoint(TRUNCATE)')
    } finally {
      database.close()
    }
    return { bytesBefore, bytesAfter: fileSize(file) }
  } catch (error) {
    throw translateStartError(error, file)
  } finally {
    lease.release()
  }
}
