import { open } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createCheckpointFile } from '@perdure/platform-node'
import { type CheckpointLog, type Logger, StartError, type Storage } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { openSqliteStorage } from '@perdure/sqlite'
import { openPostgres } from './open-storage.ts'
import type { Secrets } from './pre-bind.ts'
import type { StorageNotes } from './storage-notes.ts'

/** Where the audit chain is stored outside the main database. */
export interface AuditLocation {
  readonly file?: Storage | undefined
  readonly checkpoints?: CheckpointLog | undefined
}

export interface OpenAuditLocation {
  readonly config: ServerConfig
  readonly configDir: string
  readonly secrets: Pick<Secrets, 'auditKeys' | 'auditEncryption' | 'database'>
  /** False if the caller passed in the storage. */
  readonly ownsStorage: boolean
  readonly logger: Logger
  readonly notes: StorageNotes
  /** Called when the outcome of a commit to the audit file is unknown. */
  readonly onFatal: (error: unknown) => void
  /** Called at once when the audit file is removed or replaced. */
  readonly onFilesLost: (error: unknown) => void
  /** Called when the content of the lost audit file is saved. Must end the process. */
  readonly onFilesSaved: (error: unknown) => void
}

/**
 * Opens the configured audit file, or on PostgreSQL a schema of its own, and the checkpoint file.
 *
 * @throws StartError as for the main database
 */
export async function openAuditLocation(parts: OpenAuditLocation): Promise<AuditLocation> {
  const { config, configDir, secrets, onFatal, onFilesLost, onFilesSaved } = parts
  const { audit, storage } = config
  const checkpoints = await checkpointsOf(parts)
  if (!audit.enabled) return { checkpoints }
  if (secrets.database !== undefined) {
    const schema = auditSchema(storage.schema)
    const { onOpened, onWarning } = parts.notes.of(schema)
    return {
      file: await openPostgres(config, secrets.database, { configDir, schema, onFatal, onOpened, onWarning }),
      checkpoints,
    }
  }
  let isLost = false
  const file = await openSqliteStorage({
    path: resolve(configDir, audit.path),
    synchronous: storage.synchronous,
    encryption: secrets.auditEncryption,
    onFilesLost(error) {
      isLost = true
      onFilesLost(error)
    },
    onFatal: (error) => (isLost ? onFilesSaved : onFatal)(error),
    ...parts.notes.of(audit.path),
  })
  return { file, checkpoints }
}

const auditSchema = (schema: string): string => `${schema}_audit`

async function checkpointsOf(parts: OpenAuditLocation): Promise<CheckpointLog | undefined> {
  const { config, configDir, secrets, ownsStorage, logger } = parts
  const path = checkpointPath(config, configDir, ownsStorage)
  if (path === undefined) return undefined
  await requireAppendable(path)
  const file = createCheckpointFile({ path, keys: secrets.auditKeys })
  logger.debug('audit checkpoint file opened', { verifierKey: file.verifierKey })
  return file
}

/** The file with the checkpoints; `undefined` if the server writes none. */
export function checkpointPath(config: ServerConfig, configDir: string, ownsStorage = true): string | undefined {
  const configured = config.audit.checkpointPath ?? defaultCheckpointPath(config, ownsStorage)
  return configured === undefined ? undefined : resolve(configDir, configured)
}

/** A missing file passes the check, because the first checkpoint creates the file. */
async function requireAppendable(path: string): Promise<void> {
  try {
    await (await open(path, 'r+')).close()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    throw new StartError('config-invalid', {
      message: `audit.checkpointPath: ${path} ${code === 'EISDIR' ? 'is a folder' : `cannot be opened for writing (${code})`}`,
      hint: 'set audit.checkpointPath (or PERDURE_AUDIT_CHECKPOINT_PATH) to a file in a folder that the server can write to',
      cause,
    })
  }
}

/**
 * Defaults to a file next to the audit chain; for a chain in PostgreSQL, to a file named after its schema. A storage that the caller passed in has no default, because its files do
 * not belong to the server.
 */
function defaultCheckpointPath({ audit, storage }: ServerConfig, ownsStorage: boolean): string | undefined {
  if (storage.kind === 'postgres') {
    const schema = audit.enabled ? auditSchema(storage.schema) : storage.schema
    return audit.enabled || ownsStorage ? join(dirname(storage.path), `${schema}.checkpoints`) : undefined
  }
  if (audit.enabled) return `${audit.path}.checkpoints`
  const isOwnFile = ownsStorage && storage.mode === 'server' && storage.path !== ':memory:'
  return isOwnFile ? `${storage.path}.audit-checkpoints` : undefined
}
