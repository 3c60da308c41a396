import { describe, expect, it } from 'vitest'
import { never, restarts } from '../durable/processes.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { createTestEngine, untilIdle, workflowOf } from './test-engine.fixture.ts'

type Said = readonly (string | undefined)[]

const say = ({ emit }: RunContext, text: string) => emit('text.delta', { delta: text })

/** The texts that are left when the withdrawn events are removed, as every projection removes them. */
async function shownTexts(engine: ReturnType<typeof createTestEngine>, runId: string): Promise<Said> {
  const { epoch } = await engine.storage.events.head()
  let shown: { readonly eventId: string; readonly text: string | undefined }[] = []
  for (const { type, payload, position } of await engine.eventsOf(runId)) {
    const { after, delta } = JSON.parse(payload) as { readonly after: string; readonly delta: string }
    const known = shown.findIndex(({ eventId }) => eventId === after)
    if (type === 'run.rewound' && known === -1) throw new Error(`${after} is not an event of the run`)
    if (type === 'run.rewound') shown = [...shown.slice(0, known + 1)]
    else shown.push({ eventId: `${epoch}.${position}`, text: type === 'text.delta' ? delta : undefined })
  }
  return shown.flatMap(({ text }) => (text === undefined ? [] : [text]))
}

const typesOf = async (engine: ReturnType<typeof createTestEngine>, runId: string) =>
  (await engine.eventsOf(runId)).map(({ type }) => type)

/** Executes the code in several processes, each of which dies when the code hangs, until it completes. */
async function crashUntilDone(code: (context: RunContext) => Promise<unknown>, crashes: number) {
  const boot = restarts()
  const flow = workflowOf('flow', (_, context) => code(context), { recoveries: 9 })
  let engine = await boot([flow])
  const { runId = '' } = await engine.execute('flow')
  await untilIdle(engine.clock)
  for (let crash = 0; crash < crashes; crash++) {
    engine = await boot([flow])
    await engine.advance(1_000)
  }
  return { engine, runId }
}

describe('run.rewound', () => {
  it('withdraws what was said after the last recorded call, and nothing before it', async () => {
    const code = async (context: RunContext) => {
      await say(context, 'before')
      await context.step('one', async () => say(context, 'inside'))
      await say(context, 'after')
      if (context.attempt < 3) await never()
      return 'done'
    }
    const { engine, runId } = await crashUntilDone(code, 2)

    expect((await engine.find(runId))?.status).toBe('completed')
    expect(await shownTexts(engine, runId)).toEqual(['before', 'inside', 'after'])
    const types = await typesOf(engine, runId)
    expect(types.filter((type) => type === 'run.rewound')).toHaveLength(2)
    expect(types[types.indexOf('run.rewound') - 1]).toBe('run.started')
  })

  it('withdraws what a step said that was in flight', async () => {
    const code = (context: RunContext) =>
      context.step('one', async () => {
        await say(context, 'inside')
        if (context.attempt === 1) await never()
      })
    const { engine, runId } = await crashUntilDone(code, 1)

    expect(await shownTexts(engine, runId)).toEqual(['inside'])
  })

  it('withdraws everything when the run made no call', async () => {
    const code = async (context: RunContext) => {
      await say(context, 'first')
      if (context.attempt === 1) await never()
    }
    const { engine, runId } = await crashUntilDone(code, 1)

    expect(await shownTexts(engine, runId)).toEqual(['first'])
  })

  it('keeps what was said before the run suspended itself', async () => {
    const code = async (context: RunContext) => {
      if (context.resume === undefined) {
        await say(context, 'question')
        return context.suspend({ approvals: [{ name: 'go', timeout: 10 }] })
      }
      await say(context, 'answer')
      if (context.attempt === 1) await never()
      return 'done'
    }
    const boot = restarts()
    const flow = workflowOf('flow', (_, context) => code(context))
    const first = await boot([flow])
    const { runId = '' } = await first.execute('flow')
    await untilIdle(first.clock)
    await first.advance(10)
    const second = await boot([flow])

    expect((await second.find(runId))?.status).toBe('completed')
    expect(await shownTexts(second, runId)).toEqual(['question', 'answer'])
  })

  it('is not written when the earlier attempt said nothing after its last call', async () => {
    const code = async (context: RunContext) => {
      await say(context, 'before')
      await context.step('one', () => 1)
      if (context.attempt === 1) await never()
    }
    const { engine, runId } = await crashUntilDone(code, 1)

    expect(await typesOf(engine, runId)).not.toContain('run.rewound')
  })

  it('is written once per attempt, also when the attempt is suspended and continues', async () => {
    const code = async (context: RunContext) => {
      await say(context, 'first')
      if (context.attempt === 1) await never()
      await context.sleep('nap', 10)
      await say(context, 'second')
    }
    const { engine, runId } = await crashUntilDone(code, 1)
    await engine.advance(10)

    expect(await shownTexts(engine, runId)).toEqual(['first', 'second'])
    expect((await typesOf(engine, runId)).filter((type) => type === 'run.rewound')).toHaveLength(1)
  })

  it('withdraws what the failed call of a retried run said', async () => {
    const engine = createTestEngine({
      workflows: [
        workflowOf(
          'flow',
          async (_, context) => {
            await context.step('one', async () => say(context, 'kept'))
            await context.step('two', async () => {
              await say(context, 'again')
              if (context.attempt === 1) throw new Error('no')
            })
          },
          { retries: { max: 1, delay: 1 } },
        ),
      ],
    })
    await engine.start()
    const { runId = '' } = await engine.execute('flow')
    await untilIdle(engine.clock)
    await engine.advance(10)

    expect((await engine.find(runId))?.status).toBe('completed')
    expect(await shownTexts(engine, runId)).toEqual(['kept', 'again'])
  })
})
