import { PerdureError } from '@perdure/client'
import { perdureError, StartError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { cliError } from './cli-error.ts'
import { reportOf, reportText } from './error-report.ts'
import { exitCodeOf } from './exit-code-of.ts'

const weak = new StartError('pepper-weak', { message: 'too short', hint: 'make a longer one' })

describe('reportText', () => {
  it('prints kind, message, hint and docs', () => {
    expect(reportText(weak)).toBe('error[pepper-weak]: too short\n  hint: make a longer one\n')
  })

  it('prints the cause', () => {
    const error = new StartError('secret-unresolvable', { message: 'a', hint: 'b', cause: new Error('no permission') })

    expect(reportText(error)).toBe('error[secret-unresolvable]: a\n  hint: b\n  cause: no permission\n')
  })

  it('prints the stack of an error without an identifier', () => {
    expect(reportText(new TypeError('boom'))).toMatch(/^error\[unknown\]: boom\n {4}at .*error-report\.test\.ts/)
  })
})

describe('reportOf', () => {
  it('contains identifier, message, hint and docs', () => {
    expect(reportOf(weak)).toEqual({
      error: 'pepper-weak',
      kind: 'pepper-weak',
      message: 'too short',
      hint: 'make a longer one',
      docs: 'errors/pepper-weak',
    })
  })

  it('prefers code over kind and omits a missing hint', () => {
    expect(reportOf(Object.assign(new Error('a'), { code: 'c', kind: 'k' }))).toEqual({
      error: 'c',
      kind: 'c',
      message: 'a',
    })
    expect(reportOf(Object.assign(new Error('a'), { code: '', kind: 'k' })).error).toBe('k')
    expect(reportOf('thrown text')).toEqual({ error: 'unknown', kind: 'unknown', message: 'thrown text' })
  })

  it('contains the error code of a refused request', () => {
    expect(reportOf(perdureError('token-not-found', { hint: 'list them' }))).toMatchObject({
      error: 'token-not-found',
      hint: 'list them',
    })
  })
})

describe('reportOf with a server URL without base path', () => {
  it('hints at the base path', () => {
    const error = new PerdureError('route-not-found', 'no such route')

    expect(reportOf(error, { serverUrl: 'http://127.0.0.1:9000' }).hint).toContain('like http://127.0.0.1:9000/v1')
  })
})

describe('exitCodeOf', () => {
  it.each([
    [weak, 2],
    [new StartError('database-unavailable', { message: 'a', hint: 'b' }), 3],
    [cliError('file-exists', { message: 'a', hint: 'b', exit: 'conflict' }), 6],
    [perdureError('validation-failed'), 2],
    [perdureError('auth-invalid'), 4],
    [perdureError('scope-denied'), 4],
    [perdureError('token-not-found'), 1],
    [perdureError('approval-resolved'), 6],
    [perdureError('SQLITE_BUSY'), 3],
    [perdureError('storage-unavailable'), 3],
    [perdureError('storage-failed'), 70],
    [new Error('anything'), 1],
    [undefined, 1],
  ])('maps %s to %i', (error, exitCode) => {
    expect(exitCodeOf(error)).toBe(exitCode)
  })
})
