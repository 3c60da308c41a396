import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, perdureError, type Storage } from '@perdure/ports'
import { aSession, createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext, ServiceCaller } from '../index.ts'

const session = { ...aSession(), id: 'made-by-the-run' }

type Note = (title: string) => Promise<string>

/** The memory service of these tests is a function that stores a note. */
const noting = ({ memory, step, emit }: RunContext) => ({ note: memory as unknown as Note, step, emit })

/** Successive engines on one storage, whose runs can store notes. */
function processes(storage: Storage = createInMemoryStorage()) {
  const clock = createManualClock()
  const shared = { clock, ids: createSequenceIds() }
  let decided = 0
  const services = ({ transact }: ServiceCaller) => ({
    memory: (title: string) =>
      transact('note', async () => {
        decided++
        const taken = await storage.sessions.find(session.id, EVERY_ROW)
        if (taken !== undefined) return { writes: [], value: `found ${taken.title}` }
        return { writes: [{ type: 'session.insert', session: { ...session, title } }], value: `wrote ${title}` }
      }),
  })
  const open = async (code: (context: ReturnType<typeof noting>) => Promise<unknown>, given: Storage = storage) => {
    const flow = workflowOf('flow', (_, context) => code(noting(context)))
    const engine = createTestEngine({ ...shared, storage: given, services, workflows: [flow] })
    await engine.recover()
    await engine.start()
    await untilIdle(clock)
    return engine
  }
  return { open, storage, decided: () => decided }
}

const start = async (engine: Awaited<ReturnType<ReturnType<typeof processes>['open']>>) => {
  const { runId = '' } = await engine.execute('flow')
  await untilIdle(engine.clock)
  return runId
}

const never = () => new Promise<never>(() => undefined)

describe('transact', () => {
  it('commits its writes once and returns the stored result to a re-execution', async () => {
    const { open, decided } = processes()
    const first = await open(async ({ note }) => {
      await note('one')
      await never()
    })
    const runId = await start(first)

    const second = await open(({ note }) => note('one'))

    expect(decided()).toBe(1)
    expect(await second.find(runId)).toMatchObject({ status: 'completed', result: '"wrote one"', attempt: 2 })
  })

  it.each(['before', 'after'])('takes effect once when the process dies %s the commit', async (moment) => {
    const { open, storage } = processes()
    const crashing: Storage = {
      ...storage,
      unitOfWork: {
        async commit(writes) {
          const isEffect = writes.some(({ type }) => type === 'session.insert')
          if (!isEffect) return storage.unitOfWork.commit(writes)
          if (moment === 'after') await storage.unitOfWork.commit(writes)
          return never()
        },
      },
    }
    const first = await open(({ note }) => note('one'), crashing)
    const runId = await start(first)

    const second = await open(({ note }) => note('one'))

    expect(await second.find(runId)).toMatchObject({ status: 'completed', result: '"wrote one"' })
  })

  it('calls decide again after a write conflict', async () => {
    const { open, storage, decided } = processes()
    const raced: Storage = {
      ...storage,
      unitOfWork: {
        async commit(writes) {
          if (decided() === 1 && writes.some(({ type }) => type === 'session.insert')) {
            await storage.unitOfWork.commit([{ type: 'session.insert', session: { ...session, title: 'other' } }])
          }
          return storage.unitOfWork.commit(writes)
        },
      },
    }
    const engine = await open(({ note }) => note('one'), raced)

    const runId = await start(engine)

    expect(decided()).toBe(2)
    expect((await engine.find(runId))?.result).toBe('"found other"')
  })

  it('does not fail other journal entries when its own commit conflicts', async () => {
    const { open } = processes()
    const engine = await open(async ({ note, step, emit }) => {
      const results = await Promise.all([note('one'), note('two'), emit('said', {}), step('three', () => 3)])
      return results.filter((result) => result !== undefined)
    })

    const runId = await start(engine)

    const { status, result } = (await engine.find(runId)) ?? {}
    expect(status).toBe('completed')
    expect(JSON.parse(result ?? '')).toEqual(['wrote one', 'found one', 3])
  })

  it('fails with step-failed when the decision throws', async () => {
    const services = ({ transact }: ServiceCaller) => ({
      memory: () =>
        transact('note', () => {
          throw perdureError('validation-failed', { message: 'no title' })
        }),
    })
    const flow = workflowOf('flow', (_, context) => noting(context).note(''))
    const engine = createTestEngine({ services, workflows: [flow] })

    const runId = await start(engine as never)

    expect((await engine.find(runId))?.error).toMatchObject({ code: 'step-failed', message: 'note: no title' })
  })
})
