import { openConnection } from './connection.ts'
import type { Encryption } from './encryption.ts'
import { inspectDatabase } from './inspect-database.ts'
import { takeLease } from './lease.ts'
import { databaseOpener } from './open-database.ts'
import { fileSize, preparePath } from './private-file.ts'
import { translateStartError } from './sqlite-error.ts'

/**
 * Returns the space of deleted rows to the disk. Needs free space for a second copy of the database. Sizes in bytes.
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
    lease.requireSoleOwner(open)
    const bytesBefore = fileSize(file)
    const { database } = openConnection(file, { open })
    try {
      database.exec('VACUUM')
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
