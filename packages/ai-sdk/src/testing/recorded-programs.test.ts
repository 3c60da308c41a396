import { defineAgent } from '@perdure/core'
import { runAgent, type TestRun } from '@perdure/server-app/testing'
import type { ToolSet } from 'ai'
import { describe, expect, it } from 'vitest'
import { PROGRAMS, type Program, toolsOf, type World } from '../crash-programs.fixture.ts'
import { MORE_PROGRAMS } from '../more-crash-programs.fixture.ts'
import { SDK_PROGRAMS } from '../sdk-crash-programs.fixture.ts'
import { recordedModel, recordedTools, scriptedModel } from '../testing.ts'

const ALL = Object.entries({ ...PROGRAMS, ...MORE_PROGRAMS, ...SDK_PROGRAMS })

/** Runs the program, and decides what it asks. */
async function finished(program: Program, model: unknown, tools: ToolSet, world: World): Promise<TestRun> {
  const given = { model: model as ReturnType<typeof scriptedModel>, tools, world }
  const agent = defineAgent({ id: 'x', run: program.run(given) as never })
  let run: TestRun = await runAgent(agent as never, { text: 'Hi' } as never, { agents: [...(program.agents ?? [])] })
  while (run.status === 'suspended' && run.approvals[0] !== undefined) {
    run = await run.decide(run.approvals[0].name, program.decision ?? { approved: true })
  }
  return run
}

/** The text of a transformed stream comes beside the calls, at no fixed position. */
const isOfStream = ({ payload }: { readonly payload: unknown }) => JSON.stringify(payload).includes('.stream')

/** The log without ids and times. */
const comparable = ({ runId, events }: TestRun) =>
  [...events.filter((event) => !isOfStream(event)), ...events.filter(isOfStream)]
    .filter(({ type }) => !type.endsWith('.delta') && type !== 'run.log')
    .map(({ type, payload }) => {
      const text = JSON.stringify(payload)
        .replaceAll(runId, 'RUN')
        .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
      return `${type} ${text.replaceAll(/(apr|run)_[0-9A-HJKMNP-TV-Z]{26}/g, '$1')}`
    })

describe.each(ALL.map(([name, program]) => ({ name, program })))('$name', ({ program }) => {
  it('replays from its recording without a call of a model or a recorded tool', async () => {
    const world: World = { asked: [], executed: [] }
    const scripted = scriptedModel(program.answers)
    const original = await finished(program, scripted, toolsOf(world), world)
    expect(original.status).toBe('completed')

    const replayed: World = { asked: [], executed: [] }
    const model = recordedModel(original)
    const tools = recordedTools(original, toolsOf(replayed))
    const again = await finished(program, model, tools, replayed)

    expect(model.divergences).toEqual([])
    expect(model.unused).toBe(0)
    expect([again.error, again.status, again.result]).toEqual([undefined, original.status, original.result])
    expect(comparable(again)).toEqual(comparable(original))
  })
})
