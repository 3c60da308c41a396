import type { ServerConfig } from '@perdure/protocol'
import type { Encryption } from '@perdure/sqlite'
import { createPlatform } from './adapters.ts'
import { encryptionOf } from './pre-bind.ts'
import { resolveReferences } from './resolve-references.ts'
import type { ServerOptions } from './server-options.ts'

type Place = Pick<ServerOptions, 'configDir' | 'adapters'>

/**
 * How the database file is encrypted, for whoever opens it without a server; `undefined` when it is not.
 *
 * @throws StartError `secret-unresolvable`, `encryption-passphrase-missing`
 */
export const storageEncryption = (config: ServerConfig, place: Place = {}): Promise<Encryption | undefined> =>
  resolveEncryption('storage.encryption', config.storage.encryption.enabled, { config, ...place })

/** The same of the audit log, where it is a file of its own. */
export const auditEncryption = (config: ServerConfig, place: Place = {}): Promise<Encryption | undefined> =>
  resolveEncryption('audit', config.audit.enabled, { config, ...place })

async function resolveEncryption(
  section: 'storage.encryption' | 'audit',
  isEnabled: boolean,
  { config, configDir = process.cwd(), adapters = {} }: Place & { readonly config: ServerConfig },
): Promise<Encryption | undefined> {
  if (!isEnabled) return undefined
  const references = await resolveReferences(config, createPlatform(config, configDir, adapters), [
    `${section}.passphraseRef`,
  ])
  return encryptionOf(section, isEnabled, references)
}
