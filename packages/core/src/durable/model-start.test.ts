import { createInMemoryStorage } from '@perdure/in-memory'
import { perdureError, type UnitOfWork, type Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, untilIdle } from '../engine/test-engine.fixture.ts'
import { type Code, never } from './processes.fixture.ts'
import type { StepOptions } from './step.ts'

const MODEL = { model: { provider: 'openai', model: 'small', input: [] } } as const

const startsStep = (writes: readonly Write[]) => writes.some(({ type }) => type === 'step.insert')

/** Runs code on a storage that holds back the commit with the start of its step. */
function running(code: Code) {
  const storage = createInMemoryStorage()
  const held = gate<Error | undefined>()
  const commits: (readonly string[])[] = []
  const unitOfWork: UnitOfWork = {
    async commit(writes) {
      if (startsStep(writes)) {
        const error = await held.promise
        if (error !== undefined) throw error
      }
      commits.push(writes.map(({ type }) => type))
      return storage.unitOfWork.commit(writes)
    },
  }
  const engine = createTestEngine({
    agents: [agentOf('worker', (_, context) => code(context))],
    storage: { ...storage, unitOfWork },
  })
  engine.run('worker').catch(() => undefined)
  return {
    commits,
    storeStart: () => held.resolve(undefined),
    refuseStart: (error: Error) => held.resolve(error),
    idle: () => untilIdle(engine.clock),
  }
}

describe('a step', () => {
  it('calls a model while its start is recorded, and records nothing before it', async () => {
    const seen: string[] = []
    const { idle, storeStart, commits } = running(async ({ step, emit }) => {
      await step(
        'ask',
        async () => {
          seen.push('called')
          void emit('text.delta', { delta: 'Hi' })
          return 'Hi'
        },
        MODEL,
      )
      seen.push('recorded')
    })
    await idle()
    const before = commits.length
    expect(seen).toEqual(['called'])

    storeStart()
    await idle()

    expect(seen).toEqual(['called', 'recorded'])
    const stored = commits.slice(before).map((types) => types.filter((type) => type.startsWith('step.')))
    expect(stored.slice(0, 2)).toEqual([['step.insert'], ['step.change']])
  })

  it('stops the call of a model with the error of the storage when its start cannot be recorded', async () => {
    const aborted: unknown[] = []
    const caught: unknown[] = []
    const { idle, refuseStart, commits } = running(async ({ step }) => {
      const asked = step(
        'ask',
        ({ signal }) => {
          signal.addEventListener('abort', () => void aborted.push(signal.reason))
          return never()
        },
        MODEL,
      )
      await asked.catch((error: unknown) => void caught.push(error))
    })
    await idle()

    refuseStart(perdureError('storage-full'))
    await idle()

    expect(caught).toEqual([expect.objectContaining({ code: 'storage-full' })])
    expect(aborted).toEqual(['not recorded'])
    expect(commits.flat()).not.toContain('step.change')
  })

  it.each<[string, StepOptions]>([
    ["must not be repeated after a crash: onCrash 'fail'", { ...MODEL, onCrash: 'fail' }],
    ["is repeated only after a decision: onCrash 'ask'", { ...MODEL, onCrash: 'ask' }],
    ['may be repeated only once', { ...MODEL, recoveries: 1 }],
    ['calls no model', {}],
  ])('waits for the record of its start if it %s', async (_, options) => {
    const seen: string[] = []
    const { idle, storeStart } = running(({ step }) => step('work', () => seen.push('called'), options))
    await idle()
    expect(seen).toEqual([])

    storeStart()
    await idle()

    expect(seen).toEqual(['called'])
  })
})
