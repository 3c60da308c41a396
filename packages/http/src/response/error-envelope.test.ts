import { perdureError } from '@perdure/ports'
import { ERRORS, type ErrorCode } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get } from '../app.fixture.ts'
import { toEnvelope } from './envelope.ts'
import { toErrorAnswer, toRefusal } from './error-envelope.ts'

describe('the error envelope', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])('carries %s with its status', (code) => {
    const { status, text } = toErrorAnswer(perdureError(code), 'r1')

    expect(status).toBe(ERRORS[code].status)
    expect(JSON.parse(text ?? '')).toEqual({ error: code, message: ERRORS[code].summary, requestId: 'r1' })
  })

  it('forwards the hint', () => {
    expect(toEnvelope(perdureError('agent-busy', { hint: 'later' }), 'r1').hint).toBe('later')
  })

  it('sets the field error to the code, else to the kind, else to "unknown"', () => {
    const named = (code?: string, kind?: string) =>
      toEnvelope(Object.assign(perdureError('unknown'), { code, kind }), 'r1').error

    expect(named('c', 'k')).toBe('c')
    expect(named('', 'k')).toBe('k')
    expect(named()).toBe('unknown')
  })

  it.each([
    [1, '1'],
    [1_000, '1'],
    [1_001, '2'],
  ])('rounds retryAfterMs %d up to whole seconds', (retryAfterMs, seconds) => {
    expect(toErrorAnswer(perdureError('agent-busy', { retryAfter: retryAfterMs }), 'r1').headers['Retry-After']).toBe(
      seconds,
    )
  })

  it('hides the details of an unexpected error from the caller', async () => {
    const secret = new Error('password is hunter2')
    const startRun = () => Promise.reject(secret)
    const readHealth = { document: startRun, live: () => ({ status: 'ok' }) as const, ready: startRun }
    const { app, lines } = createTestApp({ deps: { readHealth } })

    const response = await app.fetch(get('/health', { 'X-Request-Id': 'r1' }))

    expect(response.status).toBe(500)
    expect(await bodyOf(response)).toEqual({
      error: 'internal-error',
      message: ERRORS['internal-error'].summary,
      requestId: 'r1',
    })
    expect(toRefusal(secret).cause).toBe(secret)
    expect(lines).toMatchObject([
      { level: 'error', message: 'request', fields: { requestId: 'r1', operationId: 'health.get' } },
    ])
  })
})
