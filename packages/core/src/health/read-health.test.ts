import type { EpochMs, LogTail, StorageStatus } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createPhase, type Phase } from '../lifecycle/phase.ts'
import type { TriggerHealth } from '../triggers/trigger-daemon.ts'
import { createReadHealth } from './read-health.ts'

const healthy: StorageStatus = { writable: true, walBytes: 1_000, dbBytes: 4_096 }

const stopped: TriggerHealth = { state: 'stopped', active: 0, disabled: 0 }

function setUp(
  status: () => Promise<StorageStatus>,
  triggers: TriggerHealth = stopped,
  wasBlocked = false,
  tail?: LogTail,
) {
  const clock = createManualClock()
  const phase = createPhase()
  const health = createReadHealth({
    ...{ storage: { status, tail }, phase, clock },
    ...{ version: '0.1.0', walWarnThresholdBytes: 1_000, minFreeBytes: 500, secretsStore: 'env' },
    readTriggerHealth: () => triggers,
    wasBlocked: () => wasBlocked,
    replayBuffer: () => ({ events: 3, subjects: 2, bytes: 100 }),
    checkEmbedder: () => ({ status: 'disabled' }),
    checkConsolidator: () => ({ status: 'disabled', queueDepth: 0, deadLetters: 0, running: false }),
  })
  return { health, clock, phase }
}

const storageIs = (status: Partial<StorageStatus>) => setUp(async () => ({ ...healthy, ...status }))

describe('createReadHealth', () => {
  it('reports ok with exactly seven checks', async () => {
    const { health, clock } = storageIs({})
    clock.advance(1_999)

    expect(await health.document()).toEqual({
      status: 'ok',
      version: '0.1.0',
      uptimeSeconds: 1,
      checks: {
        storage: {
          ...{ status: 'ok', message: undefined, walBytes: 1_000, thresholdBytes: 1_000 },
          ...{ dbBytes: 4_096, writable: true },
        },
        embedder: { status: 'disabled' },
        secrets: { status: 'ok', store: 'env' },
        encryption: { status: 'disabled', enabled: false },
        consolidator: { status: 'disabled', queueDepth: 0, deadLetters: 0, running: false },
        triggers: { status: 'ok', running: false, active: 0, disabled: 0, nextFireAt: null },
        replayBuffer: { status: 'ok', events: 3, subjects: 2, bytes: 100 },
      },
    })
  })

  it('reports degraded when the write-ahead log exceeds its threshold', async () => {
    const { status, checks } = await storageIs({ walBytes: 1_001 }).health.document()

    expect([status, checks.storage.status]).toEqual(['degraded', 'warn'])
    expect(checks.storage.message).toBeDefined()
  })

  it('reports degraded when free disk space falls below the minimum', async () => {
    const statusOf = async (freeBytes: number) => (await storageIs({ freeBytes }).health.document()).checks.storage

    expect(await statusOf(500)).toMatchObject({ status: 'ok' })
    expect(await statusOf(499)).toMatchObject({ status: 'warn', message: 'the disk is nearly full' })
  })

  it('reads the storage status at most once per second', async () => {
    let reads = 0
    const { health, clock, phase } = setUp(async () => {
      reads++
      return healthy
    })
    phase.enter('ready')
    const readOften = () =>
      Promise.all(Array.from({ length: 50 }, () => Promise.all([health.document(), health.ready()])))

    await readOften()
    clock.advance(999)
    await readOften()
    expect(reads).toBe(1)
    clock.advance(1)
    await readOften()
    expect(reads).toBe(2)
  })

  it('reports failing when the storage is not writable, even if the write-ahead log is also too long', async () => {
    const { health } = storageIs({ writable: false, walBytes: 9_999, message: 'the disk is full' })
    const { status, checks } = await health.document()

    expect([status, checks.storage.status, checks.storage.message]).toEqual(['failing', 'fail', 'the disk is full'])
  })

  it('reports failing when the storage status cannot be read, without revealing the cause', async () => {
    const { health, phase } = setUp(() => Promise.reject(new Error('secret path')))
    phase.enter('ready')
    const document = await health.document()

    expect(document).toMatchObject({ status: 'failing', checks: { storage: { status: 'fail', writable: false } } })
    expect(JSON.stringify(document)).not.toContain('secret path')
    expect(await health.ready()).toEqual({ status: 'failing' })
  })

  it('shows how closely it follows other processes, if there may be others', async () => {
    const state = { isCurrent: true, lagMs: 120.4, isListening: false }
    const tail: LogTail = { follow: () => undefined, state: () => state }
    const { health } = setUp(async () => healthy, stopped, false, tail)

    expect((await health.document()).tail).toEqual({ current: true, lagMs: 120, listening: false })
  })

  it('shows the state of the triggers, and reports degraded while they fail', async () => {
    const health: TriggerHealth = { state: 'running', active: 2, disabled: 1, nextDueAt: 1_000 as EpochMs }

    expect((await setUp(async () => healthy, health).health.document()).checks.triggers).toEqual({
      ...{ status: 'ok', running: true, active: 2, disabled: 1, nextFireAt: '1970-01-01T00:00:01.000Z' },
    })
    const failing = await setUp(async () => healthy, { ...health, state: 'failing' }).health.document()
    expect(failing).toMatchObject({ status: 'degraded', checks: { triggers: { status: 'warn', running: true } } })
    expect(failing.checks.triggers.message).toBeDefined()
  })

  it('is alive but not ready when the event loop was blocked a moment ago', async () => {
    const { health, phase } = setUp(async () => healthy, stopped, true)
    phase.enter('ready')

    expect(health.live()).toEqual({ status: 'ok' })
    expect(await health.ready()).toEqual({ status: 'failing' })
  })

  it('always reports live', () => {
    expect(storageIs({ writable: false }).health.live()).toEqual({ status: 'ok' })
  })

  it.each<[Phase, string]>([
    ['starting', 'starting'],
    ['ready', 'ready'],
    ['draining', 'draining'],
    ['stopped', 'draining'],
  ])('reports readiness in the phase %s as %s', async (current, status) => {
    const { health, phase } = storageIs({})
    phase.enter(current)

    expect(await health.ready()).toEqual({ status })
  })
})
