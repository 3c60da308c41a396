import { PROVIDER_FAILURES, type ProviderFailureKind } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { ProviderError } from './provider-error.ts'

const RETRYABLE: Record<ProviderFailureKind, boolean> = {
  'rate-limit': true,
  capacity: true,
  transient: true,
  'context-length': false,
  'invalid-request': false,
  unauthorized: false,
  'content-filter': false,
  unknown: false,
}

describe('ProviderError', () => {
  it.each(Object.entries(RETRYABLE) as [ProviderFailureKind, boolean][])(
    'has the default message of the kind %s, and retryable: %s',
    (kind, retryable) => {
      const error = new ProviderError(kind)

      expect(error).toBeInstanceOf(Error)
      expect(error).toMatchObject({ name: 'ProviderError', kind, retryable, message: PROVIDER_FAILURES[kind] })
      expect([error.status, error.retryAfterMs, error.retryAfterDate, error.errors]).toEqual(Array(4).fill(undefined))
      expect('cause' in error || 'errors' in error).toBe(false)
    },
  )

  it('covers every failure kind of the protocol', () => {
    expect(Object.keys(RETRYABLE).toSorted()).toEqual(Object.keys(PROVIDER_FAILURES).toSorted())
  })

  it('uses the given options instead of the defaults of its kind', () => {
    const options = {
      message: 'come back later',
      retryable: false,
      status: 429,
      retryAfterMs: 1_000,
      retryAfterDate: 'Sun, 06 Nov 1994 08:49:37 GMT',
      cause: new Error('socket'),
    }

    expect(new ProviderError('rate-limit', options)).toMatchObject(options)
    expect(new ProviderError('unknown', { retryable: true }).retryable).toBe(true)
  })
})
