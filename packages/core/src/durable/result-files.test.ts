import { createInMemoryStorage } from '@perdure/in-memory'
import { type EpochMs, fromJsonText, plusMs } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { untilIdle } from '../engine/test-engine.fixture.ts'
import { BLOB_GRACE_MS } from '../files/sweep-files.ts'
import { type Code, never, startFlow } from './processes.fixture.ts'
import { long, storedResult, turns, watched, world } from './result-files.fixture.ts'

describe('a result that is longer than runs.maxResultBytes', () => {
  it.each([2_000, 100_000])(
    'is in a file that the run holds, and the code gets the same value again: %i',
    async (length) => {
      const { process } = world()
      const value = long(length)
      const seen: string[] = []
      let calls = 0
      const code: Code = async ({ step, waitForEvent }) => {
        const got = await step('read it', () => {
          calls += 1
          return value
        })
        seen.push(JSON.stringify(got))
        if (seen.length < 2) await never()
        await waitForEvent('go')
      }
      const runId = await startFlow(await process(code))
      const engine = await process(code)

      expect(calls).toBe(1)
      expect(seen).toEqual([JSON.stringify(value), JSON.stringify(value)])
      const { result, resultFile, file, text, bytes } = await storedResult(engine, runId)
      expect(result).toBeUndefined()
      expect(text).toBe(JSON.stringify(value))
      expect(resultFile).toEqual({ id: file.id, bytes: bytes.length })
      expect(file).toMatchObject({ owner: 'alice', mediaType: 'application/json', name: 'read it.json' })
      expect(await engine.storage.files.holdingRuns(file.id, 9)).toEqual([runId])
    },
  )

  it('is durable before the commit that refers to it', async () => {
    const storage = createInMemoryStorage()
    const found: boolean[] = []
    const { process, blobs } = world({
      storage: watched(storage, async (writes) => {
        for (const write of writes) {
          if (write.type === 'file.insert') found.push((await blobs.read(write.file.sha256)) !== undefined)
        }
        const types = writes.map(({ type }) => type)
        if (types.includes('file.insert')) expect(types).toEqual(expect.arrayContaining(['file.keep', 'step.change']))
      }),
    })
    await startFlow(await process(({ step }) => step('long', () => long(100_000)).then(() => 'done')))

    expect(found).toEqual([true])
  })

  it('leaves a content that the sweep deletes when the server dies before the commit that refers to it', async () => {
    const storage = createInMemoryStorage()
    let isDead = false
    const dying = watched(storage, async (writes) => {
      isDead ||= writes.some(({ type }) => type === 'file.insert')
      if (isDead) await never()
    })
    const { process, blobs, clock } = world({ storage: dying })
    let calls = 0
    const code: Code = ({ step }) => step('long', () => ({ calls: ++calls, ...long(100_000) })).then(() => 'done')
    const runId = await startFlow(await process(code))
    const stored = async () => {
      const found: string[] = []
      for await (const { sha256 } of blobs.list(plusMs(clock.now(), 1))) found.push(sha256)
      return found
    }
    expect([calls, await stored()]).toEqual([1, [expect.any(String)]])

    const engine = await world({ storage, blobs, clock }).process(code)
    expect(await engine.find(runId)).toMatchObject({ status: 'completed' })
    const { text, file } = await storedResult(engine, runId)
    expect([calls, JSON.parse(text).calls, (await stored()).length]).toEqual([2, 2, 2])
    engine.files.fileSweep.start()
    for (let step = 0; step < 3; step++) await engine.advance(BLOB_GRACE_MS)
    await engine.files.fileSweep.stop()

    expect(await stored()).toEqual([file.sha256])
  })

  it('reaches the code of a tool call whole, and pages as a reference', async () => {
    const { process } = world()
    const value = long(2_000)
    const seen: unknown[] = []
    const code: Code = async ({ tool }) => {
      seen.push(await tool({ name: 'search', toolCallId: 'call_1', args: {}, execute: () => value }))
      if (seen.length < 2) await never()
    }
    const runId = await startFlow(await process(code))
    const engine = await process(code)

    const outcome = { ok: true, value: JSON.parse(JSON.stringify(value)) }
    expect(seen).toEqual([outcome, outcome])
    const { file, text } = await storedResult(engine, runId)
    expect(text).toBe(JSON.stringify({ ok: true, value }))
    const ends = (await engine.eventsOf(runId)).filter(({ type }) => type === 'tool.execute.end')
    expect(ends.map(({ payload }) => fromJsonText(payload))).toEqual([
      {
        ...{ toolCallId: 'call_1', toolName: 'search', idempotencyKey: `${runId}.1`, durationMs: 0 },
        result: {
          file: {
            ...{ id: file.id, url: `/v1/files/${file.id}`, name: 'search.json' },
            ...{ mediaType: 'application/json', bytes: file.size },
          },
        },
        isResultInFile: true,
      },
    ])
  })

  it('is delivered in its recorded order, however long its file takes to read', async () => {
    const { process, blobs, storage, clock } = world()
    const orders: string[][] = []
    const code: Code = async ({ step, waitForEvent }) => {
      const order: string[] = []
      orders.push(order)
      const branch = async (name: string, value: unknown) => {
        await step(name, async () => {
          if (name === 'short') await turns(20)
          return value
        })
        order.push(name)
        await step(`${name} again`, () => 1)
      }
      await Promise.all([branch('long', long(100_000)), branch('short', 1)])
      if (orders.length === 1) await never()
      await waitForEvent('go')
    }
    const slow = {
      ...blobs,
      async read(...args: Parameters<typeof blobs.read>) {
        await turns(5)
        return blobs.read(...args)
      },
    }
    const runId = await startFlow(await process(code))
    await untilIdle(clock)
    await untilIdle(clock)
    const engine = await world({ blobs: slow, storage, clock }).process(code)

    for (let turn = 0; turn < 5; turn++) await untilIdle(clock)
    expect(orders).toEqual([
      ['long', 'short'],
      ['long', 'short'],
    ])
    expect((await engine.find(runId))?.status).toBe('suspended')
  })

  it('fails a re-execution with an error that names the file when its content is missing', async () => {
    const { process, blobs } = world()
    const code: Code = async ({ step }) => {
      await step('long', () => long(100_000))
      await never()
    }
    const runId = await startFlow(await process(code))
    const { file } = await storedResult(await process(code), runId)
    await blobs.delete(file.sha256, Number.MAX_SAFE_INTEGER as EpochMs)

    const engine = await process(code)

    expect((await engine.find(runId))?.error).toMatchObject({
      code: 'storage-unavailable',
      message: expect.stringContaining(file.id),
    })
  })
})
