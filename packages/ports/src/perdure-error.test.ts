import { ERRORS, type ErrorCode } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { isRefusal, PerdureError, perdureError, StartError } from './index.ts'

const anotherCopy: typeof import('./perdure-error.ts') = await import(/* @vite-ignore */ `./perdure-error.ts?${'copy'}`)

describe('perdureError', () => {
  it('fills the status, the message and the kind from the row of the code', () => {
    const { 'run-not-found': found, SQLITE_BUSY } = ERRORS

    expect({ ...perdureError('run-not-found') }).toMatchObject({ code: 'run-not-found', status: 404 })
    expect(perdureError('run-not-found').kind).toBeUndefined()
    expect(perdureError('run-not-found').message).toBe(found.summary)
    expect(perdureError('scope-denied')).toMatchObject({ code: 'scope-denied', kind: 'scope-denied', status: 403 })
    expect(perdureError('SQLITE_BUSY', { retryAfter: 5 })).toMatchObject({
      code: 'SQLITE_BUSY',
      kind: 'sqlite-busy',
      status: 503,
      message: SQLITE_BUSY.summary,
      retryAfter: 5,
    })
  })
})

describe('isRefusal', () => {
  it('matches the error of another copy of the package', () => {
    expect(anotherCopy.perdureError).not.toBe(perdureError)
    expect(anotherCopy.perdureError('agent-busy')).toSatisfy(isRefusal)
  })

  it.each(['agent-busy', 'storage-failed'] as const)('does not match the error %s of a client', (code: ErrorCode) => {
    expect(new PerdureError(code, 'The server answered 503.', { status: 503 })).not.toSatisfy(isRefusal)
  })

  it('does not match a refused start, or an error that only looks like a refusal', () => {
    const stranger = Object.assign(new Error('?'), { name: 'PerdureError', code: 'agent-lazy' })

    expect(new StartError('storage-locked', { message: 'locked', hint: 'wait' })).not.toSatisfy(isRefusal)
    expect(stranger).not.toSatisfy(isRefusal)
    expect({ name: 'PerdureError', code: 'agent-busy' }).not.toSatisfy(isRefusal)
    expect(undefined).not.toSatisfy(isRefusal)
  })
})
