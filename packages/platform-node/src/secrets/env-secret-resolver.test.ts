import { describe, expect, it } from 'vitest'
import { envSecretResolver } from './env-secret-resolver.ts'

describe('envSecretResolver', () => {
  const resolver = envSecretResolver({ PEPPER: 'sé\n', EMPTY: '' })

  it('answers for its scheme', () => {
    expect(resolver.scheme).toBe('env')
  })

  it('gives the value as UTF-8, unchanged', async () => {
    expect(await resolver.resolve('env:PEPPER')).toEqual({ bytes: Buffer.from('sé\n', 'utf8') })
  })

  it('finds nothing under an unset, empty or inherited name', async () => {
    expect(await resolver.resolve('env:MISSING')).toBeUndefined()
    expect(await resolver.resolve('env:EMPTY')).toBeUndefined()
    expect(await resolver.resolve('env:toString')).toBeUndefined()
  })
})
