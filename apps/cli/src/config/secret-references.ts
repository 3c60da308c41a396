import { secretResolvers } from '@perdure/platform-node'
import type { SecretResolver } from '@perdure/ports'
import type { Terminal } from '../terminal.ts'
import type { LoadedConfig } from './load-config.ts'

export interface SecretState {
  readonly ref: string
  readonly resolved: boolean
  readonly bytes?: number
  readonly problem?: string
}

/** The secret references in a configuration field. */
export function referencesAt(config: unknown, path: string): readonly string[] {
  const value = path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], config)
  return typeof value === 'string' ? [value] : Array.isArray(value) ? value : []
}

type Loaded = Pick<LoadedConfig, 'configDir' | 'adapters'>

/** Resolves a secret reference and reports its size, never the secret itself. */
export async function secretState(ref: string, loaded: Loaded, env: Terminal['env']): Promise<SecretState> {
  const scheme = ref.slice(0, ref.indexOf(':'))
  const resolver = resolversOf(loaded, env).find((candidate) => candidate.scheme === scheme)
  if (resolver === undefined) return { ref, resolved: false, problem: `no resolver for ${scheme}:` }
  try {
    const secret = await resolver.resolve(ref)
    if (secret === undefined || secret.bytes.length === 0) return { ref, resolved: false, problem: 'not set' }
    const { bytes, warning } = secret
    return { ref, resolved: true, bytes: bytes.length, ...(warning === undefined ? {} : { problem: warning }) }
  } catch (error) {
    return { ref, resolved: false, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** `env:NAME (set, 32 bytes)`. */
export function secretText({ ref, resolved, bytes, problem }: SecretState): string {
  return `${ref} (${resolved ? `set, ${bytes} bytes` : (problem ?? 'not set')})`
}

const resolversOf = ({ configDir, adapters }: Loaded, env: Terminal['env']): readonly SecretResolver[] => [
  ...(adapters.secretResolvers ?? []),
  ...secretResolvers({ env, baseDir: configDir }),
]
