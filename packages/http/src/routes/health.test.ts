import { createPhase, createReadHealth } from '@perdure/core'
import { Health, Liveness, Readiness, SecretsHealth } from '@perdure/protocol'
import { createManualClock } from '@perdure/testkit'
import { parse } from 'valibot'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get } from '../app.fixture.ts'

describe('/health', () => {
  it('returns the overall health', async () => {
    const response = await createTestApp().app.fetch(get('/health'))

    expect(response.status).toBe(200)
    expect(parse(Health, await bodyOf(response))).toMatchObject({ status: 'ok', version: '0.1.0' })
  })

  it('answers 503 with the health document when the server is failing', async () => {
    const readOnly = { status: async () => ({ writable: false, walBytes: 0, dbBytes: 0 }) }
    const readHealth = createReadHealth({
      ...{ storage: readOnly, phase: createPhase(), clock: createManualClock(), version: '0.1.0' },
      ...{ walWarnThresholdBytes: 1_000, secretsStore: 'env' },
      readTriggerHealth: () => ({ state: 'stopped', active: 0, disabled: 0 }),
      replayBuffer: () => ({ events: 0, subjects: 0, bytes: 0 }),
      checkEmbedder: () => ({ status: 'disabled' }),
      checkConsolidator: () => ({ status: 'disabled', queueDepth: 0, deadLetters: 0, running: false }),
    })

    const response = await createTestApp({ deps: { readHealth } }).app.fetch(get('/health'))

    expect(response.status).toBe(503)
    expect(parse(Health, await bodyOf(response)).status).toBe('failing')
  })

  it('reports ready until the server drains, and always reports live', async () => {
    const { app, phase } = createTestApp()
    const ready = async () => {
      const response = await app.fetch(get('/health/ready'))
      return [response.status, parse(Readiness, await bodyOf(response)).status]
    }

    expect(await ready()).toEqual([200, 'ready'])
    phase.enter('draining')
    expect(await ready()).toEqual([503, 'draining'])
    expect(parse(Liveness, await bodyOf(await app.fetch(get('/health/live')))).status).toBe('ok')
  })

  it('returns the secrets health', async () => {
    const response = await createTestApp().app.fetch(get('/health/secrets'))

    expect(parse(SecretsHealth, await bodyOf(response)).active).toBe('env')
  })
})
