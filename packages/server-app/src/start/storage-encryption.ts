import type { ServerConfig } from '@perdure/protocol'
import type { Encryption } from '@perdure/sqlite'
import type { ServerOptions } from '../server-options.ts'
import { createPlatform } from './adapters.ts'
import { encryptionOf } from './pre-bind.ts'
import { resolveReferences } from './resolve-references.ts'

type SecretContext = Pick<ServerOptions, 'configDir' | 'adapters'>

/**
 * The encryption of the database file, for opening it without a server; `undefined` if it is not encrypted.
 *
 * @throws StartError `secret-unresolvable`, `encryption-passphrase-missing`
 */
export const storageEncryption = (config: ServerConfig, context: SecretContext = {}): Promise<Encryption | undefined> =>
  resolveEncryption('storage.encryption', config.storage.encryption.enabled, { config, ...context })

/** Like `storageEncryption`, for a separate audit file. */
export const auditEncryption = (config: ServerConfig, context: SecretContext = {}): Promise<Encryption | undefined> =>
  resolveEncryption('audit', config.audit.enabled, { config, ...context })

async function resolveEncryption(
  section: 'storage.encryption' | 'audit',
  isEnabled: boolean,
  { config, configDir = process.cwd(), adapters = {} }: SecretContext & { readonly config: ServerConfig },
): Promise<Encryption | undefined> {
  if (!isEnabled) return undefined
  const references = await resolveReferences(config, createPlatform(config, configDir, adapters), [
    `${section}.passphraseRef`,
  ])
  return encryptionOf(section, isEnabled, references)
}
