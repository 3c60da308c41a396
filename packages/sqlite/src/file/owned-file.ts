import type { Connection } from './connection.ts'
import { openConnection } from './connection.ts'
import type { Encryption } from './encryption.ts'
import { inspectDatabase } from './inspect-database.ts'
import { takeLease } from './lease.ts'
import { databaseOpener } from './open-database.ts'
import { preparePath } from './private-file.ts'
import { translateStartError } from './sqlite-error.ts'

export interface OwnedFile {
  readonly path: string
  open(): Connection
}

/** Lets a command work on a database file without a server. Holds the lease meanwhile. @throws StartError */
export async function withOwnedFile<Result>(
  path: string,
  encryption: Encryption | undefined,
  work: (file: OwnedFile) => Result | Promise<Result>,
): Promise<Result> {
  const open = await databaseOpener(encryption)
  const file = preparePath(path)
  const lease = takeLease(file)
  try {
    inspectDatabase(file, { checkAfterCrash: true, open })
    lease.requireSoleOwner(open)
    return await work({ path: file, open: () => openConnection(file, { open }) })
  } catch (error) {
    throw translateStartError(error, file)
  } finally {
    lease.release()
  }
}
