import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { REPAIRER, startEngine } from '../engine/forks/fork-run.fixture.ts'
import { workflowOf } from '../engine/test-engine.fixture.ts'
import { type Code, never, startFlow } from './processes.fixture.ts'
import { LIMITS, long, storedResult, world } from './result-files.fixture.ts'

describe('a file with the result of a call', () => {
  it('is held by a fork, also by one of another owner, and goes with the last run', async () => {
    const code: Code = async ({ step, waitForEvent }) => {
      const { text } = (await step('long', () => long(2_000))) as ReturnType<typeof long>
      await waitForEvent('go')
      return text.length
    }
    const engine = await startEngine({
      workflows: [workflowOf('flow', (_, context) => code(context))],
      fileLimits: LIMITS,
    })
    const runId = await engine.execute('flow')
    const { file } = await storedResult(engine, runId)
    const source = await engine.find(runId)
    const { runId: forkId } = await engine.fork(runId, {
      principal: { ...REPAIRER, subject: 'bob' },
    })
    const copy = await engine.forkThread({ workflowId: 'flow', threadId: source?.threadId ?? '' })
    await engine.advance(0)

    expect(await engine.storage.files.holdingRuns(file.id, 9)).toEqual([runId, forkId, copy.id].sort())
    expect((await engine.find(forkId))?.status).toBe('suspended')
    for (const id of [runId, forkId, copy.id]) {
      const run = await engine.find(id)
      expect(await engine.storage.files.find(file.id, EVERY_ROW)).toBeDefined()
      const change = { status: 'aborted', finishReason: 'aborted', completedAt: engine.clock.now() } as const
      await engine.storage.unitOfWork.commit([
        { type: 'run.transition', runId: id, from: ['suspended'], attempt: run?.attempt ?? 0, change },
      ])
      await engine.storage.unitOfWork.commit([
        {
          ...{ type: 'thread.delete', workflowId: 'flow', threadId: run?.threadId ?? '' },
          answer: { status: 404, body: '' },
        },
      ])
    }
    expect(await engine.storage.files.find(file.id, EVERY_ROW)).toBeUndefined()
  })

  it('is replaced by a given result of a fork, which then holds no file', async () => {
    const code: Code = async ({ step, waitForEvent }) => [
      await step('long', () => long(2_000)),
      await waitForEvent('go'),
    ]
    const engine = await startEngine({
      workflows: [workflowOf('flow', (_, context) => code(context))],
      fileLimits: LIMITS,
    })
    const runId = await engine.execute('flow')
    const { runId: forkId } = await engine.fork(runId, { results: { 1: 'short' } })
    await engine.advance(0)

    const { result, resultFile } = (await engine.storage.steps.find(forkId, 1)) ?? {}
    expect([result, resultFile]).toEqual(['"short"', undefined])
    expect(await engine.find(forkId)).toMatchObject({ status: 'suspended' })
  })

  it('is stored for a call whose effect is in the storage too', async () => {
    const value = long(2_000)
    const seen: string[] = []
    const { process } = world({
      services: ({ transact }) => ({
        memory: { read: () => transact('memory.read', async () => ({ writes: [], value })) },
      }),
    })
    const code: Code = async ({ memory }) => {
      seen.push(JSON.stringify(await (memory as unknown as { read(): Promise<unknown> }).read()))
      if (seen.length < 2) await never()
    }
    const runId = await startFlow(await process(code))
    const engine = await process(code)

    expect(seen).toEqual([JSON.stringify(value), JSON.stringify(value)])
    expect((await storedResult(engine, runId)).text).toBe(JSON.stringify(value))
  })

  it('cannot be deleted as an upload, and the refusal names the run', async () => {
    const { process } = world()
    const engine = await process(({ step }) => step('long', () => long(2_000)).then(() => 'done'))
    const runId = await startFlow(engine)
    const { file } = await storedResult(engine, runId)

    const deletion = engine.files.useCases.deleteFile({
      ...{ fileId: file.id, visibility: EVERY_ROW, principal: { subject: 'alice', scopes: [] } },
    })

    await expect(deletion).rejects.toMatchObject({ code: 'file-in-use', message: expect.stringContaining(runId) })
  })

  it('shows a checkpoint of a thread by its file', async () => {
    const { process } = world()
    const engine = await process(({ step }) => step('long', () => long(2_000)).then(() => 'done'))
    const runId = await startFlow(engine)
    const { resultFile } = await storedResult(engine, runId)
    const { threadId = '' } = (await engine.find(runId)) ?? {}

    const { items } = await engine.threads.checkpoints({ workflowId: 'flow', threadId }, { limit: 9, order: 'asc' })
    const text = items.map((item) => item.toString()).join()

    expect(text).toContain(JSON.stringify(resultFile))
  })
})
