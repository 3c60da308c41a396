import { setImmediate } from 'node:timers/promises'
import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, fromJsonText, toJsonText, type Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createTestEngine, gate, outcomeOf, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'

const microtasks = async (count: number) => {
  for (let n = 0; n < count; n++) await undefined
}

/** Executes the code and calls `interfere`. Then ends the sleep that follows the code, which causes a re-execution. */
async function executeTwice(
  code: (context: RunContext) => Promise<unknown>,
  interfere: (engine: ReturnType<typeof createTestEngine>, runId: string) => Promise<void> = async () => undefined,
) {
  const flow = workflowOf('flow', async (_, context) => {
    await code(context)
    await context.sleep('nap', 10)
    return 'same'
  })
  const engine = createTestEngine({ workflows: [flow] })
  await engine.start()
  const { runId } = outcomeOf(await engine.execute('flow'))
  await untilIdle(engine.clock)
  await interfere(engine, runId)
  await untilIdle(engine.clock)
  await engine.advance(10)
  const run = await engine.find(runId)
  return [run?.status, run?.error?.message]
}

/** Stores what the code emits, and its usage, later than everything else. */
function withSlowWrites() {
  const storage = createInMemoryStorage()
  const { unitOfWork } = storage
  const isUsage = (one: Write) => one.type === 'event.append' && one.events.some(({ type }) => type === 'usage')
  const commit: typeof unitOfWork.commit = async (writes) => {
    const isSlow = writes.some((one) => one.type === 'run.emit' || isUsage(one))
    for (let turn = 0; isSlow && turn < 5; turn++) await setImmediate()
    return unitOfWork.commit(writes)
  }
  return { ...storage, unitOfWork: { ...unitOfWork, commit } }
}

describe('the order of outcomes', () => {
  it.each(['emit', 'usage'] as const)(
    'is replayed for a branch that awaits %s while another one gets its outcome',
    async (call) => {
      const write = ({ emit, usage }: RunContext) =>
        call === 'emit' ? emit('note.said', {}) : usage({ provider: 'p', model: 'm', inputTokens: 1 })
      const flow = workflowOf('flow', async (_, context) => {
        const { approval, step, sleep } = context
        const results = await Promise.all([
          approval('a').then(async () => {
            await write(context)
            return step('same', () => 'left')
          }),
          approval('b').then(() => step('same', () => 'right')),
        ])
        await sleep('nap', 10)
        return results
      })
      const engine = createTestEngine({
        workflows: [flow],
        storage: withSlowWrites(),
      })
      await engine.start()
      const { runId } = outcomeOf(await engine.execute('flow'))
      await untilIdle(engine.clock)
      const { items } = await engine.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
      await Promise.all(
        items.map(({ id }) =>
          engine.resolveApproval({ approvalId: id, approved: true, by: 'bob', visibility: EVERY_ROW }),
        ),
      )
      for (let turn = 0; turn < 40; turn++) await setImmediate()
      await engine.advance(10)
      await untilIdle(engine.clock)

      expect(fromJsonText((await engine.find(runId))?.result ?? toJsonText(null))).toEqual(['left', 'right'])
    },
  )

  it.each([0, 1, 5, 20])(
    'is replayed for steps completed in one commit, with %i microtasks between the calls of a branch',
    async (count) => {
      const code = ({ step }: RunContext) =>
        Promise.all([
          (async () => {
            await step('x1', () => 1)
            await microtasks(count)
            await step('x2', () => 1)
          })(),
          (async () => {
            await step('y1', () => 1)
            await step('y2', () => 1)
          })(),
        ])

      expect(await executeTwice(code)).toEqual(['completed', undefined])
    },
  )

  it.each([0, 1, 5, 20])(
    'is replayed for approvals decided in reverse, with %i microtasks between the calls of a branch',
    async (count) => {
      const held = gate()
      const code = ({ approval, step }: RunContext) =>
        Promise.all([
          (async () => {
            await approval('a')
            await microtasks(count)
            await step('a2', () => 1)
          })(),
          (async () => {
            await approval('b')
            await step('b2', () => 1)
          })(),
          step('hold', () => held.promise),
        ])

      const result = await executeTwice(code, async (engine, runId) => {
        const { items } = await engine.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)
        const decide = ({ id }: { readonly id: string }) =>
          engine.resolveApproval({ approvalId: id, approved: true, by: 'bob', visibility: EVERY_ROW })
        await Promise.all(items.toReversed().map(decide))
        await untilIdle(engine.clock)
        held.resolve()
      })

      expect(result).toEqual(['completed', undefined])
    },
  )

  it('is replayed after an emitted event was rejected', async () => {
    const code = async ({ emit, step }: RunContext) => {
      try {
        await emit('run.bad', {})
      } catch {
        await step('fallback', async () => 1)
      }
    }

    expect(await executeTwice(code)).toEqual(['completed', undefined])
  })

  it('is replayed when one branch awaits an emitted event and another continues immediately', async () => {
    const code = async ({ emit, step }: RunContext) => {
      const talking = (async () => {
        await emit('note.said', {})
        await step('said', () => 1)
      })()
      await Promise.race([talking, undefined])
      await step('at-once', () => 1)
      await talking
    }

    expect(await executeTwice(code)).toEqual(['completed', undefined])
  })

  it('is replayed when an approval is decided at the moment a step ends', async () => {
    const held = gate()
    const code = ({ approval, step }: RunContext) =>
      Promise.all([
        (async () => {
          await approval('a')
          await step('a2', () => 1)
        })(),
        (async () => {
          await step('b1', () => held.promise)
          await step('b2', () => 1)
        })(),
      ])

    const result = await executeTwice(code, async (engine, runId) => {
      const [open] = (await engine.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items
      const decided = engine.resolveApproval({
        approvalId: open?.id ?? '',
        approved: true,
        by: 'bob',
        visibility: EVERY_ROW,
      })
      held.resolve()
      await decided
    })

    expect(result).toEqual(['completed', undefined])
  })
})
