import { describe, expect, it } from 'vitest'
import { createTestApp, get, post } from '../app.fixture.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('the request context', () => {
  it('keeps a well-formed request id and replaces others', async () => {
    const { app } = createTestApp()

    const kept = await app.fetch(get('/health/live', { 'X-Request-Id': 'a.B-c_1' }))
    const made = await app.fetch(get('/health/live', { 'X-Request-Id': 'has spaces' }))
    const other = await app.fetch(get('/health/live'))

    expect(kept.headers.get('x-request-id')).toBe('a.B-c_1')
    expect(made.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/)
    expect(other.headers.get('x-request-id')).not.toBe(made.headers.get('x-request-id'))
  })

  it('stores a well-formed traceparent with the run and drops others', async () => {
    const { app } = createTestApp()
    const runOf = async (traceparent: string) => {
      const started = await app.fetch(post('/agents/echo/run', {}, { traceparent }))
      const { links } = (await started.json()) as { links: { self: string } }
      return (await app.fetch(get(links.self.slice('/v1'.length)))).json()
    }

    expect(await runOf(TRACE)).toMatchObject({ traceparent: TRACE })
    expect(await runOf('00-0-0-01')).not.toHaveProperty('traceparent')
  })
})
