import { describe, expect, it } from 'vitest'
import { envSecretResolver } from './env-secret-resolver.ts'

describe('envSecretResolver', () => {
  const resolver = envSecretResolver({ PEPPER: 'sé\n', EMPTY: '' })

  it('has the scheme env', () => {
    expect(resolver.scheme).toBe('env')
  })

  it('returns the value unchanged as UTF-8', async () => {
    expect(await resolver.resolve('env:PEPPER')).toEqual({ bytes: Buffer.from('sé\n', 'utf8') })
  })

  it('returns undefined for an unset, empty or inherited name', async () => {
    expect(await resolver.resolve('env:MISSING')).toBeUndefined()
    expect(await resolver.resolve('env:EMPTY')).toBeUndefined()
    expect(await resolver.resolve('env:toString')).toBeUndefined()
  })
})
