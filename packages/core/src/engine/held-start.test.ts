import { perdureError, type Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { engineOf, KEY as key, RETRY, watched } from './short-start.fixture.ts'
import { agentOf, createTestEngine, gate, outcomeOf } from './test-engine.fixture.ts'

describe('a start that is refused while it is held', () => {
  const full = perdureError('storage-full')

  it('answers the error, stores nothing, and lets the key start another run', async () => {
    let calls = 0
    const { engine, control, runs } = engineOf(async () => ++calls, RETRY, { concurrency: 1, maxQueued: 0 })
    control.before = () => {
      throw full
    }
    await expect(engine.run('task', { key })).rejects.toBe(full)
    expect(await runs()).toEqual([])
    expect(engine.readLoad().executing.agent).toBe(0)

    control.before = () => undefined
    expect(outcomeOf(await engine.run('task', { key }))).toMatchObject({ status: 'completed', result: 2 })
  })

  it('fires the signal of its code, and rejects what the code still does', async () => {
    const ended = gate<unknown>()
    const { engine, control } = engineOf(async (_, { signal, step }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      const thrown = await step('late', () => 1).catch((error: unknown) => error)
      ended.resolve(thrown)
    })
    control.before = () => {
      throw full
    }

    await expect(engine.run('task')).rejects.toBe(full)

    expect(await ended.promise).toMatchObject({ code: 'run-not-active' })
    await engine.advance(0)
    expect(engine.readLoad().executing.agent).toBe(0)
  })
})

describe('an idempotency key whose run is held', () => {
  it('starts one run and executes its code once, however many requests arrive at once', async () => {
    let calls = 0
    const { engine, runs } = engineOf(async () => ++calls)

    const all = await Promise.allSettled(Array.from({ length: 50 }, () => engine.run('task', { key })))

    expect(calls).toBe(1)
    expect(await runs()).toHaveLength(1)
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.kind] : []))
    expect(new Set(refused)).toEqual(new Set(['idempotency-in-flight']))
  })

  it('does not execute the code for a key that was used long ago', async () => {
    let calls = 0
    const { engine } = engineOf(async () => ++calls)
    await engine.run('task', { key })

    const again = await engine.run('task', { key })

    expect(again).toMatchObject({ replayed: true, status: 200 })
    expect(calls).toBe(1)
  })

  it('executes code without effects again for a repeated key, and answers with the first run', async () => {
    let calls = 0
    const { engine, runs } = engineOf(async () => ++calls, { effects: 'none' }, { isStorageShared: true })

    const first = await engine.run('task', { key })
    const again = await engine.run('task', { key })

    expect(again).toMatchObject({ replayed: true, status: 200, json: first.json, runId: first.runId })
    expect(await runs()).toHaveLength(1)
    expect(engine.readLoad().executing.agent).toBe(0)
  })

  it('does not execute the code if the record of the key is read before it is stored', async () => {
    let calls = 0
    const { storage, control } = watched()
    const reading = gate()
    const reads: Promise<void>[] = []
    const idempotency: Storage['idempotency'] = {
      ...storage.idempotency,
      async find(id, now) {
        const found = await storage.idempotency.find(id, now)
        await reads.shift()
        return found
      },
    }
    const agents = [agentOf('task', async () => ++calls, RETRY)]
    const engine = createTestEngine({ storage: { ...storage, idempotency }, agents })
    const committing = gate()
    control.before = () => committing.promise

    const first = engine.run('task', { key })
    await engine.advance(0)
    reads.push(reading.promise)
    const second = engine.run('task', { key }).catch(({ kind }: { readonly kind: string }) => kind)
    await engine.advance(0)
    committing.resolve()
    await first
    reading.resolve()

    expect(await second).toBe('idempotency-in-flight')
    expect(calls).toBe(1)
  })
})

describe('a shutdown while the start of a run is held', () => {
  it('queues the run for the next process once the start is committed', async () => {
    const committing = gate()
    const { engine, control, runs } = engineOf(() => new Promise(() => undefined))
    control.before = () => committing.promise
    const reply = engine.run('task', { key })
    await engine.advance(0)

    const released = engine.release()
    await engine.advance(0)
    committing.resolve()
    await released

    expect((await reply).status).toBe(202)
    expect(await runs()).toMatchObject([{ status: 'queued', attempt: 2 }])
  })

  it('commits the start of a run whose code has just begun', async () => {
    const begun = gate()
    const { engine, runs } = engineOf(() => {
      begun.resolve()
      return new Promise(() => undefined)
    })
    const reply = engine.run('task')
    await begun.promise

    await engine.release()

    expect((await reply).status).toBe(202)
    expect(await runs()).toMatchObject([{ status: 'queued', attempt: 2 }])
  })
})

describe('a storage that other processes use', () => {
  it('does not report a held run as missing', async () => {
    const committing = gate()
    const { engine, control } = engineOf(async () => 'done', RETRY, { isStorageShared: true })
    await engine.start()
    control.before = () => committing.promise

    const reply = engine.run('task')
    for (let round = 0; round < 3; round++) await engine.advance(2_000)
    committing.resolve()

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'done' })
  })
})

describe('the timeout of a run whose start is held', () => {
  it('commits the start before it ends the run', async () => {
    const { engine, commits } = engineOf(
      async () => {
        await Promise.resolve()
        engine.clock.advance(1)
        await new Promise(() => undefined)
      },
      { ...RETRY, timeout: 1 },
    )

    expect(outcomeOf(await engine.run('task'))).toMatchObject({ status: 'aborted', finishReason: 'timeout' })

    expect(commits.slice(0, 2)).toEqual(['run.insert event.append', 'run.transition event.append idempotency.complete'])
  })
})
