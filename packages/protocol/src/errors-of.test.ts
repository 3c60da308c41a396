import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorCode } from './errors.ts'
import { errorsOf } from './errors-of.ts'
import { OPERATIONS } from './operations/index.ts'

const byId = (id: string) => {
  const operation = OPERATIONS.find((candidate) => candidate.id === id)
  if (operation === undefined) throw new Error(`no operation ${id}`)
  return operation
}

/** Errors that are sent before an operation is chosen, or while the server still receives the request. */
const BEFORE_AN_OPERATION: readonly ErrorCode[] = ['route-not-found', 'request-timeout', 'headers-too-large']
/** Errors of the pages through which a browser passes while a user signs in to the console. */
const OF_PAGES: readonly ErrorCode[] = ['sign-in-unavailable']

/** Errors that travel as data, such as the outcome of a run, and never as an error response. */
const CARRIED_AS_DATA: readonly ErrorCode[] = [
  'attempts-exhausted',
  'budget-exhausted',
  'invalid-output',
  'run-failed',
  'run-interrupted',
  'step-failed',
  'timer-driver-store-unsupported',
  'workflow-divergence',
  'unknown',
]

describe('errorsOf', () => {
  it('gives a public read no errors except those that any request can cause', () => {
    expect(errorsOf(byId('health.live'))).toEqual([
      'validation-failed',
      'host-denied',
      'rate-limit-exceeded',
      'internal-error',
    ])
  })

  it('gives a read that requires a scope the errors for credentials, scope and storage, and its own', () => {
    expect(errorsOf(byId('agents.get'))).toEqual([
      'validation-failed',
      'auth-expired',
      'auth-invalid',
      'auth-required',
      'auth-revoked',
      'csrf-denied',
      'scope-denied',
      'agent-not-found',
      'host-denied',
      'auth-locked-out',
      'rate-limit-exceeded',
      'internal-error',
      'SQLITE_BUSY',
      'audit-unavailable',
      'auth-keys-unavailable',
      'storage-failed',
      'storage-unavailable',
    ])
  })

  it('gives an idempotent write every error that its body and key can cause', () => {
    const errors = errorsOf(byId('agents.run'))

    const { errors: own } = byId('agents.run')
    expect(own.length).toBeGreaterThan(3)
    expect(errors).toEqual(expect.arrayContaining([...own]))
    expect(errors).toEqual(
      expect.arrayContaining([
        'cors-denied',
        'invalid-json',
        'validation-failed',
        'body-too-large',
        'unsupported-media-type',
        'idempotency-key-invalid',
        'idempotency-key-required',
        'idempotency-conflict',
        'idempotency-in-flight',
        'storage-full',
      ]),
    )
    expect(errors).not.toContain('not-implemented')
  })

  it('includes validation-failed for every operation', () => {
    for (const operation of OPERATIONS) expect(errorsOf(operation)).toContain('validation-failed')
  })

  it('omits scope-denied for an operation that accepts any principal', () => {
    const errors = errorsOf(byId('tokens.self'))
    expect(errors).toContain('auth-required')
    expect(errors).not.toContain('scope-denied')
  })

  it('includes scope-denied for one that accepts any principal and whose body may need a scope', () => {
    expect(errorsOf(byId('mcp-server.send'))).toContain('scope-denied')
  })

  it('gives an operation without a handler the errors of every stage and not-implemented, but none of its own', () => {
    expect(errorsOf({ ...byId('consolidator.run'), refused: true })).toEqual([
      'idempotency-key-invalid',
      'idempotency-key-required',
      'invalid-json',
      'validation-failed',
      'auth-expired',
      'auth-invalid',
      'auth-required',
      'auth-revoked',
      'console-read-only',
      'cors-denied',
      'csrf-denied',
      'scope-denied',
      'body-too-large',
      'unsupported-media-type',
      'host-denied',
      'auth-locked-out',
      'rate-limit-exceeded',
      'internal-error',
      'not-implemented',
      'SQLITE_BUSY',
      'audit-unavailable',
      'auth-keys-unavailable',
      'storage-failed',
      'storage-unavailable',
    ])
  })

  it('includes not-implemented only for operations without a handler', () => {
    for (const operation of OPERATIONS) {
      expect(errorsOf(operation).includes('not-implemented'), operation.id).toBe(operation.refused === true)
    }
  })

  it('returns errors in catalogue order without duplicates', () => {
    const order = Object.keys(ERRORS)
    for (const operation of OPERATIONS) {
      const positions = errorsOf(operation).map((code) => order.indexOf(code))
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
    }
  })
})

describe('ERRORS', () => {
  it('assigns each error either to operations or to one of the lists in this file, never to both', () => {
    const used = new Set(OPERATIONS.flatMap((operation) => [...operation.errors, ...errorsOf(operation)]))
    const unused = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !used.has(code))

    expect(unused.toSorted()).toEqual([...BEFORE_AN_OPERATION, ...OF_PAGES, ...CARRIED_AS_DATA].toSorted())
  })

  it('is sorted by status, then name', () => {
    const rows = Object.entries(ERRORS).map(([code, { status }]) => `${status} ${code}`)
    expect(rows).toEqual(rows.toSorted())
  })

  it('uses kebab-case names, except for the error of the storage driver', () => {
    const others = Object.keys(ERRORS).filter((code) => !/^[a-z]+(-[a-z]+)*$/.test(code))
    expect(others).toEqual(['SQLITE_BUSY'])
  })

  it('marks exactly the statuses 408, 429 and 503, agent-busy, idempotency-in-flight and run-active as retryable', () => {
    for (const [code, { status, retryable }] of Object.entries(ERRORS)) {
      const isBusy = ['agent-busy', 'idempotency-in-flight', 'run-active'].includes(code)
      expect(retryable, code).toBe([408, 429, 503].includes(status) || isBusy)
    }
  })

  it('uses a code for agents, sessions, workflows and the storage driver, and a kind for all others', () => {
    const codes = Object.entries(ERRORS).filter(([, { family }]) => family === 'code')
    for (const [code] of codes) {
      expect(code).toMatch(
        /^(agent|approval|attempts|budget|invalid-input|invalid-output|queue|resume|run|session|step|thread|timer|version|workflow|SQLITE_BUSY)/,
      )
    }
  })
})
