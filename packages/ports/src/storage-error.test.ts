import { describe, expect, it } from 'vitest'
import { AppError } from './app-error.ts'
import { isRetryable, isStorageBusy, isStorageError, storageBusy } from './storage-error.ts'

describe('storageBusy', () => {
  it('creates an error with the code and the kind of the protocol', () => {
    const cause = new Error('could not serialize access')

    expect(storageBusy({ cause })).toMatchObject({ id: 'SQLITE_BUSY', code: 'SQLITE_BUSY', kind: 'sqlite-busy', cause })
  })
})

describe('the classification of storage errors', () => {
  it.each([
    [storageBusy(), [true, true, true]],
    [new AppError('storage-unavailable'), [true, true, true]],
    [new AppError('storage-full'), [false, true, true]],
    [new AppError('storage-failed'), [false, false, true]],
    [new AppError('run-not-found'), [false, false, false]],
    [new Error('foreign'), [false, false, false]],
    ['text', [false, false, false]],
  ])('classifies %s as busy, retryable and caused by the storage: %j', (error, expected) => {
    expect([isStorageBusy(error), isRetryable(error), isStorageError(error)]).toEqual(expected)
  })
})
