import { StartError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'

const auth = { pepperRef: 'env:PEPPER' }
const postgres = { kind: 'postgres', urlRef: 'env:DATABASE_URL' }

const refusalOf = (input: object): Pick<StartError, 'kind' | 'message' | 'hint'> => {
  try {
    parseConfig(input)
  } catch (error) {
    if (error instanceof StartError) return error
    throw error
  }
  throw new Error('the configuration was accepted')
}

describe('the fields of a kind of storage', () => {
  it.each([
    ['storage.path', { storage: { ...postgres, path: './other.db' } }],
    ['storage.mode', { storage: { ...postgres, mode: 'lib' } }],
    ['storage.synchronous', { storage: { ...postgres, synchronous: 'normal' } }],
    ['storage.minFreeBytes', { storage: { ...postgres, minFreeBytes: 1 } }],
    ['storage.encryption.enabled', { storage: { ...postgres, encryption: { enabled: true } } }],
    ['audit.path', { storage: postgres, audit: { path: './other.db' } }],
    ['audit.passphraseRef', { storage: postgres, audit: { passphraseRef: 'env:SECRET' } }],
  ])('refuses %s with PostgreSQL', (field, input) => {
    expect(refusalOf({ auth, ...input })).toMatchObject({
      kind: 'config-invalid',
      message: `${field}: set, but storage.kind is postgres`,
    })
  })

  it('refuses the fields of PostgreSQL without storage.kind postgres, all in one message', () => {
    expect(refusalOf({ auth, storage: { urlRef: 'env:DATABASE_URL', poolSize: 20 } })).toMatchObject({
      kind: 'config-invalid',
      message: 'storage.urlRef, storage.poolSize: set, but storage.kind is sqlite',
      hint: expect.stringContaining('storage.kind'),
    })
  })

  it('refuses PostgreSQL without a URL', () => {
    expect(refusalOf({ auth, storage: { kind: 'postgres' } })).toMatchObject({
      kind: 'config-invalid',
      message: expect.stringContaining('storage.urlRef'),
    })
  })

  it('refuses PostgreSQL without a pepper, also with auth.kind none', () => {
    expect(refusalOf({ auth: { kind: 'none' }, storage: postgres }).kind).toBe('pepper-missing')
  })

  it('accepts a configuration that was parsed before', () => {
    const parsed = parseConfig({ auth, storage: postgres })

    expect(parseConfig(parsed)).toEqual(parsed)
    expect(parsed.storage).toMatchObject({ kind: 'postgres', schema: 'perdure', poolSize: 10 })
  })
})
