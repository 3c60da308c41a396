import { createInMemoryStorage } from '@perdure/in-memory'
import { aFile } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { startFlow } from './processes.fixture.ts'
import { long, watched, world } from './result-files.fixture.ts'

const MODEL_NAME = { provider: 'p', model: 'm' }
const MODEL = { ...MODEL_NAME, operation: 'chat' } as const

describe('a result that files cannot take', () => {
  it('fails the step with the error of the quota, whose charge is recorded, and leaves no file', async () => {
    const { process } = world({ fileLimits: { maxBytes: 500_000, maxBytesPerOwner: 1_500 } })
    let calls = 0
    const engine = await process(({ step }) =>
      step(
        'long',
        ({ modelAnswered }) => {
          calls += 1
          modelAnswered({ charge: { ...MODEL_NAME, inputTokens: 7 } })
          return long(2_000)
        },
        { retries: 2, model: MODEL },
      ),
    )
    const runId = await startFlow(engine)

    const run = await engine.find(runId)
    expect(run).toMatchObject({ status: 'failed', usage: { inputTokens: 7 } })
    expect(run?.error?.message).toContain('the files of this owner may have 1500 bytes together')
    expect(calls).toBe(1)
    expect(await engine.storage.files.usage('alice')).toEqual({ files: 0, bytes: 0 })
  })

  it('fails with the error of the quota when another file takes the room just before the commit', async () => {
    const storage = createInMemoryStorage()
    let isTaken = false
    const { process } = world({
      fileLimits: { maxBytes: 500_000, maxBytesPerOwner: 4_000 },
      storage: watched(storage, async (writes) => {
        if (isTaken || !writes.some(({ type }) => type === 'file.insert')) return
        isTaken = true
        await storage.unitOfWork.commit([{ type: 'file.insert', file: aFile({ id: 'other', size: 3_000 }) }])
      }),
    })
    const engine = await process(({ step }) =>
      step(
        'long',
        ({ modelAnswered }) => {
          modelAnswered({ charge: { ...MODEL_NAME, inputTokens: 7 } })
          return long(1_500)
        },
        { model: MODEL },
      ),
    )
    const runId = await startFlow(engine)

    const run = await engine.find(runId)
    expect(run).toMatchObject({ status: 'failed', usage: { inputTokens: 7 } })
    expect(run?.error?.message).toContain('the files of this owner may have 4000 bytes together')
    expect((await storage.files.usage('alice')).files).toBe(1)
  })

  it('is a failure of the tool, as data, when the quota or the limit of files refuses it', async () => {
    const { process } = world({ fileLimits: { maxBytes: 9_000, maxBytesPerOwner: 3_000 } })
    let calls = 0
    const engine = await process(async ({ tool }) => {
      const call = (length: number) =>
        tool({ name: 'search', retries: 2, execute: () => ({ calls: ++calls, ...long(length) }) })
      return [await call(3_000), await call(10_000)]
    })
    const runId = await startFlow(engine)

    const outcomes = JSON.parse((await engine.find(runId))?.result ?? '[]')
    expect(outcomes).toMatchObject([
      { ok: false, error: { kind: 'invalid_output', message: expect.stringContaining('3000 bytes together') } },
      {
        ok: false,
        error: {
          kind: 'invalid_output',
          message: 'the result is longer than 1000 bytes, and longer than a file may be: 9000 bytes',
        },
      },
    ])
    expect(calls).toBe(2)
    const types = (await engine.eventsOf(runId)).map(({ type }) => type).filter((type) => type.startsWith('tool.'))
    expect(types).toEqual([...['tool.execute.start', 'tool.execute.error', 'tool.execute.start', 'tool.execute.error']])
  })

  it('fails the step with both limits when it is longer than a file may be', async () => {
    const { process } = world({ fileLimits: { maxBytes: 5_000, maxBytesPerOwner: 9_000 } })
    const engine = await process(({ step }) => step('long', () => long(10_000)))
    const runId = await startFlow(engine)

    expect((await engine.find(runId))?.error?.message).toBe(
      'long: the result is longer than 1000 bytes, and longer than a file may be: 5000 bytes',
    )
  })
})
