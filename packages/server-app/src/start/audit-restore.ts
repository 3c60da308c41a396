import { existsSync } from 'node:fs'
import { createCheckpointFile, keepCheckpoints } from '@perdure/platform-node'
import { type AuditLink, type EpochMs, RESTORED } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { type AuditFile, appendToAuditChain, openAuditChainFile } from '@perdure/sqlite'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { checkpointPath } from './audit-location.ts'
import { validateBeforeBind } from './pre-bind.ts'

type ChainLocation = Pick<AuditLink, 'seq' | 'hash'>

/** What a restore does to the audit chain. */
export interface AuditRestore {
  /** The newest entry of the backup; number 0 when its chain is empty. */
  readonly head: ChainLocation
  /** The newest known entry that the backup does not contain; `undefined` if the backup contains every known entry. */
  readonly lost: ChainLocation | undefined
  /**
   * Call it after the restore if the backup lacks known entries: records in the restored chain which entries were
   * discarded, and by whom. Keeps the schema of the restored file. Starts a new checkpoint file with the checkpoints that
   * the restored chain contains.
   *
   * @returns the checkpoint file and the name under which the old one is kept
   */
  record(by: { readonly user: string; readonly backup: string }): Promise<RestoredCheckpoints | undefined>
}

export interface RestoredCheckpoints {
  readonly path: string
  readonly kept: string
}

export interface AuditRestoreFiles {
  /** The file of the backup that holds the chain. */
  readonly copy: AuditFile
  /** The file that it replaces. */
  readonly target: AuditFile
}

/**
 * Compares the chain of a backup with the entries that are known: the newest signed checkpoint, and the newest entry of
 * the file that the backup replaces, if that file can be read.
 *
 * @throws StartError if the backup cannot be read, or a secret does not resolve
 */
export async function openAuditRestore(
  config: ServerConfig,
  { configDir = process.cwd(), adapters = {} }: Pick<ServerOptions, 'configDir' | 'adapters'>,
  { copy, target }: AuditRestoreFiles,
): Promise<AuditRestore> {
  const platform = createPlatform(config, configDir, adapters)
  const path = checkpointPath(config, configDir)
  const hasCheckpoints = path !== undefined && existsSync(path)
  const secrets = async () => (await validateBeforeBind(config, platform)).auditKeys
  const known = hasCheckpoints ? [await newestCheckpoint({ path, keys: await secrets() })] : []
  const chain = await openAuditChainFile(copy)
  try {
    const { head, hashAt } = chain
    const missing = [...known, await headOf(target)].filter((one) => one.seq > 0 && hashAt(one.seq) !== one.hash)
    const lost = missing.toSorted((one, other) => other.seq - one.seq)[0]
    return {
      head,
      lost,
      async record({ user, backup }) {
        if (lost === undefined) return undefined
        const keys = await secrets()
        const at = platform.clock.now()
        const detail = { user, backup, headSeq: head.seq, headHash: head.hash, lostSeq: lost.seq, lostHash: lost.hash }
        const actor = { kind: 'system', subject: 'cli' } as const
        const entry = { at, actor, action: RESTORED, decision: 'allowed', detail } as const
        await appendToAuditChain(target, { entry, keys })
        return hasCheckpoints ? replaceCheckpoints({ path, keys }, target, at) : undefined
      },
    }
  } finally {
    chain.close()
  }
}

const NOTHING: ChainLocation = { seq: 0, hash: '' }

async function newestCheckpoint(file: Parameters<typeof createCheckpointFile>[0]): Promise<ChainLocation> {
  let newest = NOTHING
  for await (const { checkpoint } of createCheckpointFile(file).read()) {
    if (checkpoint !== undefined && checkpoint.seq > newest.seq) newest = checkpoint
  }
  return newest
}

/** An unreadable file does not fail the comparison: it is often the reason for the restore. */
async function headOf(target: AuditFile): Promise<ChainLocation> {
  try {
    const chain = await openAuditChainFile(target)
    chain.close()
    return chain.head
  } catch {
    return NOTHING
  }
}

async function replaceCheckpoints(
  file: Parameters<typeof createCheckpointFile>[0],
  target: AuditFile,
  at: EpochMs,
): Promise<RestoredCheckpoints> {
  const { path } = file
  const kept = `${path}.before-restore-${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}`
  const chain = await openAuditChainFile(target)
  try {
    await keepCheckpoints(file, { old: kept, isKept: ({ seq, hash }) => chain.hashAt(seq) === hash })
    await createCheckpointFile(file).append({ ...chain.head, at })
  } finally {
    chain.close()
  }
  return { path, kept }
}
