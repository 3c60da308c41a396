import { type AuditLink, GENESIS_HASH, type Write } from '@perdure/ports'
import { createStores } from '@perdure/storage'
import { createInlineHost } from '../host/inline-host.ts'
import type { AuditFile } from './backup.ts'
import { inspectDatabase } from './inspect-database.ts'
import { applyMigrations } from './migrate.ts'
import { databaseOpener } from './open-database.ts'
import { withOwnedFile } from './owned-file.ts'
import { fileSize } from './private-file.ts'
import { translateStartError } from './sqlite-error.ts'

type ChainLocation = Pick<AuditLink, 'seq' | 'hash'>

/** The audit chain in a database file, read without a server. */
export interface AuditChainFile {
  /** The newest entry; number 0 when the chain is empty. */
  readonly head: ChainLocation
  /** The hash of an entry, or of the location up to which retention has removed entries. */
  hashAt(seq: number): string | undefined
  close(): void
}

/** @throws StartError as `checkDatabase` */
export async function openAuditChainFile({ path, encryption }: AuditFile): Promise<AuditChainFile> {
  const open = await databaseOpener(encryption)
  if (fileSize(path) === 0) return EMPTY
  inspectDatabase(path, { checkAfterCrash: false, open })
  try {
    const database = open(path, { readonly: true, fileMustExist: true })
    const hasChain = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit_heads'").get() !== undefined
    if (!hasChain) {
      database.close()
      return EMPTY
    }
    const base = database.prepare("SELECT seq, hash FROM audit_heads WHERE name = 'base'").get() as ChainLocation
    const last = database.prepare('SELECT seq, hash FROM audit_entries ORDER BY seq DESC LIMIT 1').get()
    const hashOf = database.prepare('SELECT hash FROM audit_entries WHERE seq = ?').pluck()
    return {
      head: (last as ChainLocation | undefined) ?? base ?? EMPTY.head,
      hashAt: (seq) => (base?.seq === seq ? base.hash : (hashOf.get(seq) as string | undefined)),
      close: () => database.close(),
    }
  } catch (error) {
    throw translateStartError(error, path)
  }
}

/**
 * Appends one entry to the chain in a database file without a server, and keeps the schema of the file: the release that
 * wrote it can still open it. Only a file from before there was a chain is migrated, because it has no place for the entry.
 * Holds the lease meanwhile.
 *
 * @throws StartError as `openSqliteStorage`
 */
export async function appendToAuditChain(
  { path, encryption }: AuditFile,
  { entry, keys }: Omit<Extract<Write, { readonly type: 'audit.append' }>, 'type'>,
): Promise<void> {
  await withOwnedFile(path, encryption, async (file) => {
    const db = file.open()
    const hasChain = db.database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit_heads'").get() !== undefined
    const host = createInlineHost(db, { closeConnection: ({ database }) => void database.close() })
    try {
      if (!hasChain) applyMigrations(db.database, { path: file.path, now: Date.now })
      await createStores(host).unitOfWork.commit([{ type: 'audit.append', entry, ...(keys && { keys }) }])
    } finally {
      await host.close()
    }
  })
}

const EMPTY: AuditChainFile = { head: { seq: 0, hash: GENESIS_HASH }, hashAt: () => undefined, close: () => undefined }
