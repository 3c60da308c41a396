import type { SecretResolver } from '@perdure/ports'

/** `env:NAME`: the value of an environment variable as UTF-8. An empty value counts as missing. */
export const envSecretResolver = (env: Readonly<Record<string, string | undefined>>): SecretResolver => ({
  scheme: 'env',
  async resolve(reference) {
    const name = reference.slice('env:'.length)
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    return value ? { bytes: Buffer.from(value, 'utf8') } : undefined
  },
})
