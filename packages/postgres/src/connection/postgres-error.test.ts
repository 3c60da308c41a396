import { isStorageBusy, type Refusal } from '@perdure/ports'
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
  ['53200', 'contended'],
  // The login was refused, for example after a change of the password.
  ['28P01', 'lost'],
  // A prepared statement returns other columns than before: another release has migrated the schema.
  ['0A000', 'lost'],
  ['58P01', 'lost'],
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

it.each([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Query read timeout',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'Received unexpected dataRow message from backend.',
  'received invalid response: 4a',
  'SASL: SCRAM-SERVER-FINAL-MESSAGE: server signature does not match',
  'Cannot use a pool after calling end on the pool',
])('takes the message "%s" of the driver as a lost connection', (message) => {
  expect(kindOf(new Error(message))).toBe('lost')
})

it.each([
  'Client has already been connected. You cannot reuse a client.',
  'A query must have either text or a name. Supplying neither is unsupported.',
  "Prepared statements must be unique - 'name' was used for a different statement",
  'Query values must be an array',
  'Release called on client which has already been released to the pool.',
  'Called end on pool more than once',
])('takes the message "%s" of the driver as a mistake in the program', (message) => {
  expect(kindOf(new Error(message))).toBe('foreign')
})

it('takes a certificate that cannot be verified as a lost connection, and a wrong argument as a mistake', () => {
  for (const code of ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    expect(kindOf(Object.assign(new Error('certificate'), { code }))).toBe('lost')
  }
  expect(kindOf(Object.assign(new TypeError('argument'), { code: 'ERR_INVALID_ARG_TYPE' }))).toBe('foreign')
})

it('leaves other errors as they are', () => {
  const error = new Error('a mistake in the program')

  expect(kindOf(error)).toBe('foreign')
  expect(translateError(error)).toBe(error)
})

it('reports a busy storage when nothing was written and a retry may succeed', () => {
  for (const code of ['40001', '57014', '57P01']) expect(isStorageBusy(translateError(reported(code)))).toBe(true)
  expect(translateError(reported('40001'))).toMatchObject({ code: 'SQLITE_BUSY' })
  for (const code of ['57P01', '25006', '53300']) {
    expect(translateError(reported(code))).toMatchObject({ code: 'storage-unavailable' })
  }
})

it('reports a full disk and a rejected statement', () => {
  expect(translateError(reported('53100'))).toMatchObject({ code: 'storage-full' })
  expect((translateError(reported('23505')) as Refusal).code).toBe('internal-error')
})
