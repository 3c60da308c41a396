import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createCheckpointFile } from '@perdure/platform-node'
import { type CheckpointLog, type Logger, StartError, type Storage } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { openSqliteStorage } from '@perdure/sqlite'
import type { Secrets } from './pre-bind.ts'

/** Where the audit chain is kept, as far as that is not the main database. */
export interface AuditPlace {
  readonly file?: Storage | undefined
  readonly checkpoints?: CheckpointLog | undefined
}

export interface OpenAuditPlace {
  readonly config: ServerConfig
  readonly configDir: string
  readonly secrets: Pick<Secrets, 'auditKeys' | 'auditEncryption'>
  /** Whether the server has opened the main database itself. */
  readonly ownsStorage: boolean
  readonly logger: Logger
  /** The outcome of a commit to the audit file is unknown. */
  readonly onFatal: (error: unknown) => void
}

/** Opens what the configuration names. @throws StartError as for the main database */
export async function openAuditPlace(parts: OpenAuditPlace): Promise<AuditPlace> {
  const { config, configDir, secrets, onFatal } = parts
  const { audit, storage } = config
  const checkpoints = await checkpointsOf(parts)
  if (!audit.enabled) return { checkpoints }
  const file = await openSqliteStorage({
    path: resolve(configDir, audit.path),
    synchronous: storage.synchronous,
    encryption: secrets.auditEncryption,
    onFatal,
  })
  return { file, checkpoints }
}

async function checkpointsOf(parts: OpenAuditPlace): Promise<CheckpointLog | undefined> {
  const { config, configDir, secrets, ownsStorage, logger } = parts
  const place = config.audit.checkpointPath ?? besideTheChain(config, ownsStorage)
  if (place === undefined) return undefined
  const path = resolve(configDir, place)
  await requireAppendable(path)
  const file = createCheckpointFile({ path, keys: secrets.auditKeys })
  logger.debug('audit checkpoints', { verifierKey: file.verifierKey })
  return file
}

/** A file that is not there yet will be made with the first checkpoint. */
async function requireAppendable(path: string): Promise<void> {
  try {
    await (await open(path, 'r+')).close()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return
    throw new StartError('config-invalid', {
      message: `audit.checkpointPath: ${path} ${code === 'EISDIR' ? 'is a folder' : `cannot be read and written (${code})`}`,
      hint: 'name a file, in a folder that the server may write to: audit.checkpointPath, or PERDURE_AUDIT_CHECKPOINT_PATH',
      cause,
    })
  }
}

/** A database of somebody else gets no file beside it. */
function besideTheChain({ audit, storage }: ServerConfig, ownsStorage: boolean): string | undefined {
  if (audit.enabled) return `${audit.path}.checkpoints`
  const isServed = ownsStorage && storage.mode === 'server' && storage.path !== ':memory:'
  return isServed ? `${storage.path}.audit-checkpoints` : undefined
}
