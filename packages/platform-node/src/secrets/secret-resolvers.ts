import type { SecretResolver } from '@perdure/ports'
import { envSecretResolver } from './env-secret-resolver.ts'
import { type FileSecretResolverOptions, fileSecretResolver } from './file-secret-resolver.ts'
import { keyringSecretResolver } from './keyring-secret-resolver.ts'

export interface SecretResolversOptions extends FileSecretResolverOptions {
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A resolver for each kind of secret reference that a configuration can contain without an adapter of its own. */
export const secretResolvers = ({ env, baseDir }: SecretResolversOptions): readonly SecretResolver[] => [
  envSecretResolver(env),
  fileSecretResolver({ baseDir }),
  keyringSecretResolver(),
]
