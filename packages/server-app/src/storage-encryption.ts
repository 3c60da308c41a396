import type { ServerConfig } from '@berth/protocol'
import type { Encryption } from '@berth/sqlite'
import { createPlatform } from './adapters.ts'
import { encryptionOf } from './pre-bind.ts'
import { resolveReferences } from './resolve-references.ts'
import type { ServerOptions } from './server-options.ts'

/**
 * How the database file is encrypted, for whoever opens it without a server; `undefined` when it is not.
 *
 * @throws StartError `secret-unresolvable`, `encryption-passphrase-missing`
 */
export async function storageEncryption(
  config: ServerConfig,
  { configDir = process.cwd(), adapters = {} }: Pick<ServerOptions, 'configDir' | 'adapters'> = {},
): Promise<Encryption | undefined> {
  const { enabled } = config.storage.encryption
  if (!enabled) return undefined
  const field = 'storage.encryption.passphraseRef'
  const references = await resolveReferences(config, createPlatform(config, configDir, adapters), [field])
  return encryptionOf('storage.encryption', enabled, references)
}
