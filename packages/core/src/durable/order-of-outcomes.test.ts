import { EVERY_ROW } from '@perdure/ports'
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

describe('the order of outcomes', () => {
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
