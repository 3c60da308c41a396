import { type AppError, isStorageBusy } from '@perdure/ports'
import { expect, it } from 'vitest'
import { kindOf, translateError } from './postgres-error.ts'

const reported = (code: string) => Object.assign(new Error('reported'), { code, severity: 'ERROR' })

it.each([
  ['57P01', 'lost'],
  ['08006', 'lost'],
  ['53300', 'lost'],
  // The server ended the session of a paused process, which held a transaction open.
  ['25P03', 'lost'],
  ['40001', 'contended'],
  ['40P01', 'contended'],
  ['55P03', 'contended'],
  ['57014', 'timeout'],
  ['25006', 'read-only'],
  ['53100', 'full'],
  ['23505', 'rejected'],
  ['42P01', 'rejected'],
])('takes SQLSTATE %s as %s', (code, kind) => {
  expect(kindOf(reported(code))).toBe(kind)
})

it('takes errors of the connection as a lost connection', () => {
  for (const code of ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT']) {
    expect(kindOf(Object.assign(new Error('socket'), { code }))).toBe('lost')
  }
  expect(kindOf(new Error('Connection terminated unexpectedly'))).toBe('lost')
})

it('leaves other errors as they are', () => {
  const error = new Error('a mistake in the program')

  expect(kindOf(error)).toBe('foreign')
  expect(translateError(error)).toBe(error)
})

it('reports a busy storage when nothing was written and a retry may succeed', () => {
  for (const code of ['40001', '57014', '57P01']) expect(isStorageBusy(translateError(reported(code)))).toBe(true)
})

it('reports a full disk and a rejected statement', () => {
  expect(translateError(reported('53100'))).toMatchObject({ id: 'storage-full' })
  expect((translateError(reported('23505')) as AppError).id).toBe('internal-error')
})
