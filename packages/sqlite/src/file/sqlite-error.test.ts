import { isRefusal, StartError } from '@perdure/ports'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { translateError, translateStartError } from './sqlite-error.ts'

const driverError = (code: string) => new Database.SqliteError('as the driver says', code)

describe('translateError', () => {
  it.each([
    ['SQLITE_BUSY', 'SQLITE_BUSY'],
    ['SQLITE_BUSY_SNAPSHOT', 'SQLITE_BUSY'],
    ['SQLITE_LOCKED', 'SQLITE_BUSY'],
    ['SQLITE_FULL', 'storage-full'],
    ['SQLITE_IOERR_FSYNC', 'storage-failed'],
    ['SQLITE_CORRUPT', 'storage-failed'],
    ['SQLITE_NOTADB', 'storage-failed'],
    ['SQLITE_READONLY_DBMOVED', 'storage-failed'],
    ['SQLITE_CONSTRAINT_NOTNULL', 'internal-error'],
  ])('translates %s to %s and keeps the cause', (driverCode, code) => {
    const error = driverError(driverCode)

    const translated = translateError(error)

    expect(translated).toSatisfy(isRefusal)
    expect(translated).toMatchObject({ code, cause: error })
  })

  it('sets both code and kind on a busy error', () => {
    expect(translateError(driverError('SQLITE_BUSY'))).toMatchObject({ code: 'SQLITE_BUSY', kind: 'sqlite-busy' })
  })

  it('returns other errors unchanged', () => {
    const error = new TypeError('not of the driver')

    expect(translateError(error)).toBe(error)
  })
})

describe('translateStartError', () => {
  it.each([
    ['SQLITE_BUSY', 'storage-locked'],
    ['SQLITE_NOTADB', 'storage-corrupt'],
    ['SQLITE_CORRUPT', 'storage-corrupt'],
    ['SQLITE_IOERR_SHORT_READ', 'storage-corrupt'],
    ['SQLITE_CANTOPEN', 'config-invalid'],
    ['SQLITE_READONLY', 'config-invalid'],
  ])('translates %s to %s', (code, kind) => {
    const error = driverError(code)

    const translated = translateStartError(error, '/data.db')

    expect(translated).toBeInstanceOf(StartError)
    expect(translated).toMatchObject({ kind, cause: error, message: expect.stringContaining('/data.db') })
  })

  it('returns other errors unchanged', () => {
    const error = new RangeError('not of the driver')

    expect(translateStartError(error, '/data.db')).toBe(error)
  })
})
