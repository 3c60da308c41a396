import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, fromJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { ALICE, type createTestEngine, gate, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import { textOfParts } from '../json/json-page.ts'
import { type Code, flowOf, processes, restarts, startFlow, waitFor } from './processes.fixture.ts'

type TestEngine = ReturnType<typeof createTestEngine>

const approvalOf = async (engine: TestEngine, runId: string) =>
  (await engine.readApprovals.list({ runId }, { limit: 9, order: 'asc' }, EVERY_ROW)).items[0]?.id ?? ''

const approve = async (engine: TestEngine, runId: string) => {
  const approvalId = await approvalOf(engine, runId)
  await engine.resolveApproval({ approvalId, approved: true, by: 'bob', visibility: EVERY_ROW })
  await untilIdle(engine.clock)
}

const emit = async (engine: TestEngine, name: string) => {
  await engine.emitEvent({ name, payload: {}, caller: { principal: ALICE, runs: EVERY_ROW } })
  await untilIdle(engine.clock)
}

const waitsOf = async (engine: TestEngine, runId: string) =>
  outcomeOf(await engine.readRuns.outcome(runId, EVERY_ROW)).waitingFor

const resume = (engine: TestEngine, runId: string, body: object = {}) =>
  engine.resumeRun({ runId, visibility: EVERY_ROW, principal: ALICE, ...body })

const typesOf = async (engine: TestEngine, runId: string) => (await engine.eventsOf(runId)).map(({ type }) => type)

/** Asks for an approval and then pays. `before` is a step that newer code makes first. */
function payments() {
  const paid: string[] = []
  const code =
    (before?: string): Code =>
    async ({ step, approval, runId }) => {
      if (before !== undefined) await step(before, () => 1)
      const { approved } = await approval('pay')
      return step('transfer', () => {
        paid.push(`${runId} ${approved}`)
        return 'paid'
      })
    }
  return { paid, code }
}

describe('a run whose code no longer makes the recorded calls', () => {
  it('is parked with the recorded call and the call that the code makes', async () => {
    const process = processes()
    const { code } = payments()
    const runId = await startFlow(await process(code()))

    const second = await process(code('check'))
    expect(await waitsOf(second, runId)).toMatchObject([{ kind: 'approval' }])
    await approve(second, runId)

    const wait = { kind: 'code', seq: 1, expected: 'approval pay', found: 'step check' }
    expect(await second.find(runId)).toMatchObject({ status: 'suspended' })
    expect(await waitsOf(second, runId)).toEqual([wait])
    const threadId = (await second.find(runId))?.threadId ?? ''
    const state = await textOfParts(await second.threads.state({ workflowId: 'flow', threadId }))
    expect(fromJsonText(state)).toMatchObject({ waitingFor: [wait] })
    const last = (await second.eventsOf(runId)).at(-1)
    expect(last?.type).toBe('run.suspended')
    expect(last && fromJsonText(last.payload)).toMatchObject({
      ...{ status: 'suspended', reason: 'divergence', waitingFor: [wait] },
    })
  })

  it.each([
    ['a call with another name', async ({ step }) => step('renamed', () => 1), 'step renamed'],
    ['a call of another kind', async ({ sleep }) => sleep('one', 5), 'sleep one'],
    ['one call fewer', async () => 'done', null],
    ['one call fewer, and suspends itself', async ({ suspend }) => suspend(), null],
  ] satisfies [string, Code, string | null][])('is parked when its code makes %s', async (_, changed, found) => {
    const process = processes()
    const first = await process(async ({ step }) => {
      await step('one', () => 1)
      await gate().promise
    })
    const runId = await startFlow(first)

    const second = await process(changed)

    expect(await waitsOf(second, runId)).toEqual([{ kind: 'code', seq: 1, expected: 'step one', found }])
  })

  it('continues with the recorded decision once the old code is registered again, and executes nothing twice', async () => {
    const process = processes()
    const { code, paid } = payments()
    const runId = await startFlow(await process(code()))
    await approve(await process(code('check')), runId)

    const third = await process(code())

    expect(await third.find(runId)).toMatchObject({ status: 'completed', result: '"paid"' })
    expect(paid).toEqual([`${runId} true`])
    expect((await typesOf(third, runId)).filter((type) => type.startsWith('run.'))).toEqual([
      ...['run.started', 'run.suspended', 'run.resumed', 'run.started', 'run.suspended'],
      ...['run.resumed', 'run.started', 'run.completed'],
    ])
  })

  it('adds nothing to its log when it parks again for the same reason', async () => {
    const process = processes()
    const { code } = payments()
    const runId = await startFlow(await process(code()))
    const second = await process(code('check'))
    await approve(second, runId)
    const before = await typesOf(second, runId)

    for (let n = 0; n < 3; n++) await process(code('check'))
    const last = await process(code('check'))
    await waitFor(last, resume(last, runId))

    expect(await typesOf(last, runId)).toEqual(before)
    expect(await last.find(runId)).toMatchObject({ status: 'suspended' })
  })

  it('reports a second reason for parking', async () => {
    const process = processes()
    const { code } = payments()
    const runId = await startFlow(await process(code()))
    const second = await process(code('check'))
    await approve(second, runId)
    const before = await typesOf(second, runId)

    const third = await process(code('audit'))

    expect((await typesOf(third, runId)).slice(before.length)).toEqual(['run.resumed', 'run.started', 'run.suspended'])
    expect(await waitsOf(third, runId)).toMatchObject([{ found: 'step audit' }])
  })

  it('keeps a decision that is made while it is parked', async () => {
    const process = processes()
    const paid: string[] = []
    const code =
      (before?: string): Code =>
      async ({ step, approval, waitForEvent }) => {
        if (before !== undefined) await step(before, () => 1)
        const [{ approved }] = await Promise.all([approval('pay'), waitForEvent('go')])
        await step('transfer', () => void paid.push(String(approved)))
      }
    const runId = await startFlow(await process(code()))
    const second = await process(code('check'))
    await emit(second, 'go')
    expect(await waitsOf(second, runId)).toMatchObject([{ kind: 'code' }])

    await approve(second, runId)
    expect(await waitsOf(second, runId)).toMatchObject([{ kind: 'code' }])

    const third = await process(code())
    expect([(await third.find(runId))?.status, paid]).toEqual(['completed', ['true']])
  })

  it('keeps a decision that is made while the parking is being written', async () => {
    const storage = createInMemoryStorage()
    let interfere: (() => Promise<unknown>) | undefined
    const unitOfWork: typeof storage.unitOfWork = {
      async commit(writes) {
        const isPark = writes.some((write) => write.type === 'run.transition' && write.change.status === 'suspended')
        const decide = isPark ? interfere : undefined
        if (isPark) interfere = undefined
        await decide?.()
        return storage.unitOfWork.commit(writes)
      },
    }
    const process = processes({ storage: { ...storage, unitOfWork } })
    // The old code makes the step `note` at once, the new code makes it after the approval.
    const old: Code = async ({ step, approval, waitForEvent }) => {
      await Promise.all([approval('pay'), step('note', () => 1), waitForEvent('go')])
    }
    const changed: Code = async ({ step, approval, waitForEvent }) => {
      const noted = approval('pay').then(() => step('note', () => 2))
      await Promise.all([noted, waitForEvent('go')])
      return 'done'
    }
    const runId = await startFlow(await process(old))
    const second = await process(changed)
    const approvalId = await approvalOf(second, runId)
    interfere = () => second.resolveApproval({ approvalId, approved: true, by: 'bob', visibility: EVERY_ROW })

    await emit(second, 'go')

    expect(interfere).toBeUndefined()
    expect(await second.find(runId)).toMatchObject({ status: 'completed', result: '"done"' })
  })

  it('is tried again by a resume request without a payload, which answers with the outcome', async () => {
    const { code } = payments()
    let current = code()
    const first = await processes()((context) => current(context))
    const runId = await startFlow(first)
    current = code('check')
    await approve(first, runId)

    expect(outcomeOf(await waitFor(first, resume(first, runId)))).toMatchObject({ waitingFor: [{ kind: 'code' }] })
    await expect(resume(first, runId, { payload: { amount: 1 } })).rejects.toMatchObject({ code: 'run-not-suspended' })
    current = code()

    expect(outcomeOf(await waitFor(first, resume(first, runId)))).toMatchObject({ status: 'completed', result: 'paid' })
  })

  it('is parked only after the steps that execute have ended', async () => {
    const process = processes()
    const hold = gate()
    const entered: string[] = []
    const old: Code = async ({ step }) => {
      await Promise.all([step('long', () => gate().promise), step('one', () => 1)])
    }
    const runId = await startFlow(await process(old))
    const changed: Code = async ({ step }) => {
      const long = step('long', () => {
        entered.push('long')
        return hold.promise
      })
      await Promise.all([long, step('other', () => 1)])
    }

    const second = await process(changed)
    expect(await second.find(runId)).toMatchObject({ status: 'running' })
    hold.resolve()
    await untilIdle(second.clock)

    expect(await waitsOf(second, runId)).toEqual([{ kind: 'code', seq: 2, expected: 'step one', found: 'step other' }])
    const third = await process(old)
    expect([(await third.find(runId))?.status, entered]).toEqual(['completed', ['long']])
  })

  it('waits for a step that executes when its code ends too early', async () => {
    const process = processes()
    const hold = gate()
    const old: Code = async ({ step }) => {
      await Promise.all([step('long', () => gate().promise), step('one', () => 1)])
    }
    const runId = await startFlow(await process(old))

    const second = await process(async ({ step }) => void step('long', () => hold.promise))
    expect(await second.find(runId)).toMatchObject({ status: 'running' })
    hold.resolve()
    await untilIdle(second.clock)

    expect(await waitsOf(second, runId)).toEqual([{ kind: 'code', seq: 2, expected: 'step one', found: null }])
    expect((await second.storage.steps.list(runId)).map(({ status }) => status)).toEqual(['completed', 'completed'])
  })

  it('fires the signal of the code that is left over, with the reason parked', async () => {
    const process = processes()
    const { code } = payments()
    const runId = await startFlow(await process(code()))
    const reasons: unknown[] = []

    const second = await process(async (context) => {
      context.signal.addEventListener('abort', () => reasons.push(context.signal.reason))
      return code('check')(context)
    })
    await approve(second, runId)

    expect(reasons).toEqual(['parked'])
  })

  it('can be aborted while it is parked', async () => {
    const process = processes()
    const { code } = payments()
    const runId = await startFlow(await process(code()))
    const second = await process(code('check'))
    await approve(second, runId)

    await second.abortRun({ runId, visibility: EVERY_ROW })
    const third = await process(code())

    expect(await third.find(runId)).toMatchObject({ status: 'aborted' })
  })

  it('stays parked while its workflow is not registered', async () => {
    const boot = restarts()
    const { code } = payments()
    const runId = await startFlow(await boot([flowOf(code())]))
    await approve(await boot([flowOf(code('check'))]), runId)

    const third = await boot([])
    expect(await waitsOf(third, runId)).toMatchObject([{ kind: 'code' }])

    const last = await boot([flowOf(code())])
    expect(await last.find(runId)).toMatchObject({ status: 'completed' })
  })
})
