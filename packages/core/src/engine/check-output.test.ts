import { EVERY_ROW } from '@perdure/ports'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../targets/agent.ts'
import type { RunContext } from '../targets/run-context.ts'
import type { StandardSchemaV1 } from '../targets/standard-schema.ts'
import { startEngine } from './forks/fork-run.fixture.ts'
import { ALICE, agentOf, outcomeOf, workflowOf } from './test-engine.fixture.ts'

const Total = v.object({ total: v.number() })
const invalid = { status: 'failed', finishReason: 'error', error: { code: 'invalid-output' } }

async function outcomeOfAgent(result: unknown, output: StandardSchemaV1, over: object = {}) {
  const engine = await startEngine({ agents: [agentOf('bill', async () => result, { output, ...over })] })
  const reply = await engine.run('bill')
  return { engine, outcome: outcomeOf(reply), runId: outcomeOf(reply).runId }
}

describe('an output schema', () => {
  it('completes the run with the value that the schema returns', async () => {
    const Doubled = v.pipe(
      Total,
      v.transform(({ total }) => total * 2),
    )
    const { engine, outcome, runId } = await outcomeOfAgent({ total: 4 }, Doubled)

    expect(outcome).toMatchObject({ status: 'completed', result: 8 })
    expect(await engine.find(runId)).toMatchObject({ result: '8' })
  })

  it('waits for an asynchronous schema', async () => {
    const Later = v.pipeAsync(
      Total,
      v.transformAsync(async ({ total }) => total + 1),
    )

    expect((await outcomeOfAgent({ total: 4 }, Later)).outcome).toMatchObject({ status: 'completed', result: 5 })
    expect((await outcomeOfAgent({}, Later)).outcome).toMatchObject(invalid)
  })

  it('completes a run with a wait that nobody awaits, even if the schema takes its time', async () => {
    const Slow = v.pipeAsync(
      Total,
      v.transformAsync(({ total }) => new Promise<number>((resolve) => setTimeout(() => resolve(total), 20))),
    )
    const code = async (_: unknown, { sleep }: RunContext) => {
      void sleep('nap', 1_000)
      return { total: 4 }
    }
    const engine = await startEngine({ workflows: [workflowOf('bill', code, { output: Slow })] })
    const runId = await engine.execute('bill')

    const settled = async () => {
      await engine.advance(0)
      return engine.find(runId)
    }
    await expect.poll(settled).toMatchObject({ status: 'completed' })
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).not.toContain('run.suspended')
  })

  it('fails the run and names the invalid member', async () => {
    const { engine, outcome, runId } = await outcomeOfAgent({ total: 'twelve' }, Total)

    expect(outcome).toMatchObject({ ...invalid, error: { message: expect.stringMatching(/^output\.total: /) } })
    expect(outcome.result ?? null).toBeNull()
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toEqual(['run.started', 'run.failed'])
  })

  it.each<[string, unknown, StandardSchemaV1]>([
    ['a string', { total: 'secret-word' }, Total],
    ['a string with quotes', { total: 'secret-word "quoted"' }, Total],
    ['a number', { total: 770_077 }, v.object({ total: v.string() })],
    ['a picked string', { total: 'secret-word' }, v.object({ total: v.picklist(['paid', 'open']) })],
    [
      'a member that the message of the schema repeats',
      { total: { inner: 'secret-word' } },
      v.custom(
        () => false,
        ({ input }) => `unexpected ${JSON.stringify(input)}`,
      ),
    ],
  ])('stores nothing of a rejected value: %s', async (_, result, output) => {
    const { engine, outcome, runId } = await outcomeOfAgent(result, output)

    expect(outcome).toMatchObject(invalid)
    const stored = JSON.stringify([await engine.find(runId), await engine.eventsOf(runId)])
    expect(stored).not.toMatch(/secret-word|770077/)
  })

  it('names the first ten problems and counts the others', async () => {
    const { outcome } = await outcomeOfAgent(Array(5_000).fill('x'), v.array(v.number()))

    expect(outcome.error?.message).toMatch(/output\.9: [^;]*; and 4990 more problems$/)
  })

  it('fails the run with the error that the schema throws', async () => {
    const broken = v.custom(() => {
      throw new Error('the schema is broken')
    })

    expect((await outcomeOfAgent(1, broken)).outcome).toMatchObject({
      ...{ status: 'failed', error: { code: 'run-failed', message: 'the schema is broken' } },
    })
  })

  it('rejects a missing result', async () => {
    expect((await outcomeOfAgent(undefined, Total)).outcome).toMatchObject(invalid)
    expect((await outcomeOfAgent(undefined, v.optional(Total))).outcome).toMatchObject({ status: 'completed' })
  })

  it('is final, even when the registration retries failed runs', async () => {
    let calls = 0
    const code = async () => ({ total: `${++calls}` })
    const retries = { max: 2, delay: 1 }
    const engine = await startEngine({ agents: [agentOf('bill', code, { output: Total, retries })] })

    expect(outcomeOf(await engine.run('bill'))).toMatchObject(invalid)
    expect(calls).toBe(1)
  })

  it('checks what a generator returns, and keeps its events', async () => {
    async function* code(): AsyncGenerator<AgentEvent, unknown, void> {
      yield { type: 'note.made', payload: 1 }
      return { total: 'none' }
    }
    const engine = await startEngine({ agents: [agentOf('bill', code, { output: Total })] })
    const outcome = outcomeOf(await engine.run('bill'))

    expect(outcome).toMatchObject(invalid)
    expect((await engine.eventsOf(outcome.runId)).map(({ type }) => type)).toEqual([
      ...['run.started', 'note.made', 'run.failed'],
    ])
  })

  it('checks the result of a workflow that was suspended, and not its suspension', async () => {
    const code = async (_: unknown, { sleep }: RunContext) => {
      await sleep('nap', 1_000)
      return { total: 'none' }
    }
    const engine = await startEngine({ workflows: [workflowOf('bill', code, { output: Total })] })
    const runId = await engine.execute('bill')

    expect(await engine.find(runId)).toMatchObject({ status: 'suspended' })
    await engine.advance(1_000)
    expect(await engine.find(runId)).toMatchObject(invalid)
  })

  it('checks the result of a resumed agent, and not what it returns to be suspended', async () => {
    const code = async (_: unknown, { suspend, resume }: RunContext) =>
      resume === undefined ? suspend({ state: 1 }) : resume.payload
    const engine = await startEngine({ agents: [agentOf('bill', code, { output: Total })] })
    const [good, bad] = [outcomeOf(await engine.run('bill')), outcomeOf(await engine.run('bill'))]

    expect([good.status, bad.status]).toEqual(['suspended', 'suspended'])
    await engine.resumeRun({ runId: good.runId, payload: { total: 1 }, principal: ALICE, visibility: EVERY_ROW })
    await engine.resumeRun({ runId: bad.runId, payload: { total: 'x' }, principal: ALICE, visibility: EVERY_ROW })
    await engine.advance(0)
    expect(await engine.find(good.runId)).toMatchObject({ status: 'completed' })
    expect(await engine.find(bad.runId)).toMatchObject(invalid)
  })

  it('checks the result of a fork with the code that is registered now', async () => {
    let total: unknown = 1
    const engine = await startEngine({ agents: [agentOf('bill', async () => ({ total }), { output: Total })] })
    const { runId: source } = outcomeOf(await engine.run('bill'))
    total = 'none'
    const { runId } = await engine.fork(source, { from: 'start' })
    await engine.advance(0)

    expect(await engine.find(source)).toMatchObject({ status: 'completed' })
    expect(await engine.find(runId)).toMatchObject(invalid)
  })

  it('fails the step of the parent when a child returns an invalid result', async () => {
    const child = agentOf('child', async () => ({ total: 'none' }), { output: Total })
    const parent = workflowOf('parent', async (_, { invoke }) => invoke('child'))
    const engine = await startEngine({ agents: [child], workflows: [parent] })
    const runId = await engine.execute('parent')
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({
      ...{ status: 'failed', error: { code: 'step-failed', message: expect.stringContaining('output.total') } },
    })
  })

  it('gives the parent the value that the schema of the child returns', async () => {
    const child = agentOf('child', async () => ({ total: 3 }), { output: v.pipe(Total, v.transform(JSON.stringify)) })
    const parent = workflowOf('parent', async (_, { invoke }) => invoke('child'))
    const engine = await startEngine({ agents: [child], workflows: [parent] })
    const runId = await engine.execute('parent')
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: JSON.stringify('{"total":3}') })
  })

  it('applies the limit on the size of a result to the value that the schema returns', async () => {
    const Repeated = v.pipe(
      v.string(),
      v.transform((text) => text.repeat(500)),
    )

    expect((await outcomeOfAgent('abc', Repeated)).outcome).toMatchObject({
      ...{ status: 'failed', error: { code: 'validation-failed' } },
    })
  })
})
