import { describe, expect, it } from 'vitest'
import { perdureError } from './perdure-error.ts'
import { isRetryable, isStorageBusy, isStorageError, storageBusy } from './storage-error.ts'

describe('storageBusy', () => {
  it('creates an error with the code and the kind of the protocol', () => {
    const cause = new Error('could not serialize access')

    expect(storageBusy({ cause })).toMatchObject({ code: 'SQLITE_BUSY', kind: 'sqlite-busy', cause })
  })
})

describe('the classification of storage errors', () => {
  it.each([
    [storageBusy(), [true, true, true]],
    [perdureError('storage-unavailable'), [true, true, true]],
    [perdureError('storage-full'), [false, true, true]],
    [perdureError('storage-failed'), [false, false, true]],
    [perdureError('run-not-found'), [false, false, false]],
    [new Error('foreign'), [false, false, false]],
    ['text', [false, false, false]],
  ])('classifies %s as busy, retryable and caused by the storage: %j', (error, expected) => {
    expect([isStorageBusy(error), isRetryable(error), isStorageError(error)]).toEqual(expected)
  })
})
