import { setImmediate } from 'node:timers/promises'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type StepRecord, type Storage, toJsonText, type Write } from '@perdure/ports'
import { aRun, aStep, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf, silentLogger, workflowOf } from '../engine/test-engine.fixture.ts'
import { readRecordedCalls } from './recorded-calls.ts'
import { createTurnSizes } from './turn-sizes.fixture.ts'

const RUN = aRun()
const RESULT = toJsonText('x'.repeat(100_000))

const completed = (seq: number): StepRecord =>
  aStep({ seq, name: `call ${seq}`, status: 'completed', result: RESULT, endOrder: seq })

async function storageWith(...steps: readonly StepRecord[]): Promise<Storage> {
  const storage = createInMemoryStorage()
  const writes = steps.map((step): Write => ({ type: 'step.insert', step }))
  await storage.unitOfWork.commit([{ type: 'run.insert', run: RUN }, ...writes])
  return storage
}

/** The calls of a storage, with a note of every result that is read. */
const noted = ({ steps }: Storage, note: (bytes: number) => void): Storage['steps'] => {
  const noteAll = (calls: readonly StepRecord[]) => {
    for (const { result = '' } of calls) note(result.length)
  }
  return {
    ...steps,
    async list(runId, content) {
      const calls = await steps.list(runId, content)
      noteAll(calls)
      return calls
    },
    async read(runId, range) {
      const part = await steps.read(runId, range)
      noteAll(part.items)
      return part
    },
  }
}

const deps = (steps: Storage['steps']) => ({
  steps,
  timers: createManualClock(),
  logger: silentLogger,
  yieldTurn: () => setImmediate(),
})

describe('readRecordedCalls', () => {
  it('reads at most 1 MiB of results in one turn of the event loop', async () => {
    const steps = Array.from({ length: 100 }, (_, index) => completed(index + 1))
    const storage = await storageWith(...steps)
    const turns = createTurnSizes()

    const calls = await readRecordedCalls(deps(noted(storage, turns.note)), RUN.id)

    const { largest, total } = turns.stop()
    expect(calls).toEqual(steps)
    expect(total).toBeGreaterThanOrEqual(100 * RESULT.length)
    expect(largest).toBeLessThanOrEqual(1_048_576)
  })

  it('reads a short run at once, without another turn', async () => {
    const storage = await storageWith(completed(1), completed(2))
    const reads: number[] = []
    const counted = noted(storage, (bytes) => reads.push(bytes))

    const calls = await readRecordedCalls({ ...deps(counted), yieldTurn: () => expect.unreachable() }, RUN.id)

    expect(calls.map(({ seq }) => seq)).toEqual([1, 2])
    expect(reads).toEqual([RESULT.length, RESULT.length])
  })

  it('returns the calls as they are at one moment, although waits end while the parts are read', async () => {
    const wait = aStep({ seq: 1, kind: 'event', status: 'waiting' })
    const late = aStep({ seq: 40, kind: 'event', status: 'waiting' })
    const between = Array.from({ length: 38 }, (_, index) => completed(index + 2))
    const storage = await storageWith(wait, ...between, late)
    const ending = async (seq: number) => {
      const change = { status: 'completed', result: RESULT } as const
      await storage.unitOfWork.commit([{ type: 'step.change', runId: RUN.id, seq, from: 'waiting', change }])
    }
    let turns = 0
    const yieldTurn = async () => {
      turns++
      if (turns !== 2) return
      // The first part is read already: only the later outcome would be found.
      await ending(1)
      await ending(40)
    }

    const calls = await readRecordedCalls({ ...deps(storage.steps), yieldTurn }, RUN.id)

    expect(turns).toBeGreaterThan(2)
    const ended = { status: 'completed', result: RESULT }
    expect([calls.at(0), calls.at(-1)]).toEqual([
      { ...wait, ...ended, endOrder: 40 },
      { ...late, ...ended, endOrder: 41 },
    ])
    expect(calls.slice(1, -1)).toEqual(between)
  })
})

describe('a re-execution', () => {
  it.each(['agent', 'workflow'] as const)('of a %s reads and delivers its results in many turns', async (kind) => {
    const turns = createTurnSizes()
    const stored = createInMemoryStorage()
    let isAgain = false
    const code = async (_: unknown, ctx: Parameters<Parameters<typeof workflowOf>[1]>[1]) => {
      for (let index = 0; index < 60; index++) {
        const result = await ctx.step(`call ${index}`, () => 'x'.repeat(100_000))
        if (isAgain) turns.note(result.length)
      }
      return ctx.waitForEvent('go')
    }
    const engine = createTestEngine({
      storage: { ...stored, steps: noted(stored, (bytes) => isAgain && turns.note(bytes)) },
      maxResultBytes: 200_000,
      ...(kind === 'agent' ? { agents: [agentOf('flow', code)] } : { workflows: [workflowOf('flow', code)] }),
    })
    const started = await (kind === 'agent' ? engine.run('flow', { answer: 'accepted' }) : engine.execute('flow'))
    const { runId } = outcomeOf(started)
    for (let turn = 0; turn < 40; turn++) await engine.advance(0)
    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })

    isAgain = true
    await engine.emitEvent({ name: 'go', payload: 1 })
    for (let turn = 0; turn < 40; turn++) await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed' })
    const { largest, total } = turns.stop()
    expect(total).toBeGreaterThan(2 * 60 * 100_000)
    expect(largest).toBeLessThanOrEqual(1_048_576 + 300_000)
  })
})
