import type { Encryption } from './encryption.ts'
import { withOwnedFile } from './owned-file.ts'
import { fileSize } from './private-file.ts'

/**
 * Returns the space of deleted rows to the disk. Needs free space for a second copy of the database. Sizes in bytes.
 *
 * @throws StartError `storage-locked` while a server holds the file
 */
export async function vacuum(
  path: string,
  { encryption }: { readonly encryption?: Encryption | undefined } = {},
): Promise<{ readonly bytesBefore: number; readonly bytesAfter: number }> {
  return withOwnedFile(path, encryption, (file) => {
    const bytesBefore = fileSize(file.path)
    const { database } = file.open()
    try {
      database.exec('VACUUM')
      database.pragma('wal_checkpoint(TRUNCATE)')
    } finally {
      database.close()
    }
    return { bytesBefore, bytesAfter: fileSize(file.path) }
  })
}
