import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createTestEngine, gate, outcomeOf, settled, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../targets/agent.ts'

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await undefined
}

/** Executes the code, lets `interfere` act, then passes the nap at its end, for which the code is executed again. */
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
  await settled(engine.clock)
  await interfere(engine, runId)
  await settled(engine.clock)
  await engine.pass(10)
  const run = await engine.find(runId)
  return [run?.status, run?.error?.message]
}

describe('the order of outcomes', () => {
  it.each([0, 1, 5, 20])(
    'is the same again for steps settled in one commit, %i turns in the first branch',
    async (count) => {
      const code = ({ step }: RunContext) =>
        Promise.all([
          (async () => {
            await step('x1', () => 1)
            await turns(count)
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
    'is the same again for approvals decided in reverse while a step executes, %i turns',
    async (count) => {
      const held = gate()
      const code = ({ approval, step }: RunContext) =>
        Promise.all([
          (async () => {
            await approval('a')
            await turns(count)
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
          engine.resolveApproval({ approvalId: id, granted: true, by: 'bob', visibility: EVERY_ROW })
        await Promise.all(items.toReversed().map(decide))
        await settled(engine.clock)
        held.resolve()
      })

      expect(result).toEqual(['completed', undefined])
    },
  )

  it('is the same again where what the code emits was refused', async () => {
    const code = async ({ emit, step }: RunContext) => {
      try {
        await emit('run.bad', {})
      } catch {
        await step('fallback', async () => 1)
      }
    }

    expect(await executeTwice(code)).toEqual(['completed', undefined])
  })

  it('is the same again when a branch waits for what it emits, and another goes on at once', async () => {
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

  it('is the same again when an approval is decided in the moment a step ends', async () => {
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
        granted: true,
        by: 'bob',
        visibility: EVERY_ROW,
      })
      held.resolve()
      await decided
    })

    expect(result).toEqual(['completed', undefined])
  })
})
