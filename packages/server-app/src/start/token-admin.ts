import { auditingUnitOfWork, createManageTokens, type MintToken, webhooksOfToken } from '@perdure/core'
import { createIdGenerator } from '@perdure/platform-node'
import type { Page, PageQuery, SubjectRevocation, TokenRecord } from '@perdure/ports'
import { StartError } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { checkAdapters } from './check-options.ts'
import { openStorage } from './open-storage.ts'
import { validateBeforeBind } from './pre-bind.ts'

/** Manages tokens directly in the database, before the first start or while a server is running. */
export interface TokenAdmin {
  mint(request: MintToken): Promise<{ readonly token: string; readonly record: TokenRecord }>
  list(page: PageQuery): Promise<Page<TokenRecord>>
  revoke(id: string): Promise<TokenRecord>
  /** Revokes the JWTs and tokens of a user that were issued at a time (ISO 8601; default: now) or earlier. */
  revokeSubject(subject: string, issuedUntil?: string): Promise<SubjectRevocation>
  /** The ids of the webhooks that end when the token is revoked. */
  webhooksOf(id: string): Promise<readonly string[]>
  close(): Promise<void>
}

/** @throws StartError as `start()` of the server would */
export async function openTokenAdmin(
  config: ServerConfig,
  { configDir = process.cwd(), adapters = {} }: Pick<ServerOptions, 'configDir' | 'adapters'> = {},
): Promise<TokenAdmin> {
  checkAdapters(adapters)
  const platform = createPlatform(config, configDir, adapters)
  const { peppers, auditKeys, storageEncryption, database } = await validateBeforeBind(config, platform)
  if (peppers.length === 0) {
    throw new StartError('pepper-missing', {
      message: 'auth.kind none does not use tokens',
      hint: 'set auth.kind to token and auth.pepperRef',
    })
  }
  const shared: ServerConfig = { ...config, storage: { ...config.storage, mode: 'lib' } }
  const storage =
    adapters.storage ?? (await openStorage({ config: shared, configDir, encryption: storageEncryption, database }))
  const { tokens } = storage
  const { enabled, events } = config.audit
  const tools = { ...platform, ids: platform.ids ?? createIdGenerator() }
  const unitOfWork = auditingUnitOfWork(storage.unitOfWork, { ...tools, isStaged: enabled, keys: auditKeys, events })
  const manage = createManageTokens({ ...tools, tokens, unitOfWork, peppers })
  return {
    mint: (request) => manage.mint(request, 'cli'),
    list: manage.list,
    revoke: (id) => manage.revoke(id, 'cli'),
    revokeSubject: (subject, issuedUntil) => manage.revokeSubject({ subject, issuedUntil }, 'cli'),
    webhooksOf: (id) => webhooksOfToken(storage, id),
    close: async () => {
      if (adapters.storage === undefined) await storage.close()
    },
  }
}
