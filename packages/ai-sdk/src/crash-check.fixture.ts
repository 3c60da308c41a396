import { defineAgent } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { createServer, type EmbeddedServer } from '@perdure/server-app'
import { expect } from 'vitest'
import { type Program, toolsOf, type World } from './crash-programs.fixture.ts'
import { cutAfter } from './cut-storage.fixture.ts'
import { QUIET } from './server.fixture.ts'
import { scriptedModel } from './testing.ts'
import { shownBy } from './transcript.fixture.ts'

const headers = { 'content-type': 'application/json', 'idempotency-key': 'the-run' }

async function call<T>(server: EmbeddedServer, path: string, body?: object): Promise<T> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers }
  return (await (await server.fetch(new Request(`http://localhost/v1${path}`, init))).json()) as T
}

interface Run {
  readonly runId: string
  readonly status: string
  readonly result?: unknown
  readonly error?: unknown
  readonly usage: Usage
}

interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
  readonly toolCalls: number
}

type Event = { readonly type: string; readonly payload: unknown }

interface Driving extends Pick<Program, 'decision'> {
  readonly budget?: object
}

/** Starts the run unless it exists, decides what it asks, and resolves with its end. */
async function drive(server: EmbeddedServer, { decision, budget }: Driving) {
  const { runId } = await call<Run>(server, '/agents/x/stream', { input: { text: 'Hi' }, budget })
  for (;;) {
    const run = await call<Run>(server, `/runs/${runId}`)
    if (run.status === undefined) throw new Error(JSON.stringify([runId, run]))
    if (['completed', 'failed', 'aborted'].includes(run.status)) {
      const { items } = await call<{ readonly items: readonly Event[] }>(
        server,
        `/runs/${runId}/events?order=asc&limit=200`,
      )
      const { costUsdToday } = await call<SubjectUsage>(server, '/subjects/anonymous/usage')
      return { run, events: items, costUsdToday: costUsdToday.used }
    }
    const { items } = await call<{ readonly items: readonly { readonly id: string }[] }>(
      server,
      '/approvals?status=pending',
    )
    for (const { id } of items) {
      await server.fetch(
        new Request(`http://localhost/v1/approvals/${id}/resolve`, {
          ...{ method: 'POST', body: JSON.stringify(decision), headers: { 'content-type': 'application/json' } },
        }),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

interface SubjectUsage {
  readonly costUsdToday: { readonly used: number }
}

/** Sums of whole numbers are exact. */
const DOLLAR_PER_TOKEN = { inputUsdPerMillion: 1_000_000, outputUsdPerMillion: 1_000_000 }

/** A budget that is used up as soon as something is charged twice. */
const budgetFor = ({ inputTokens, outputTokens, costUsd, toolCalls }: Usage, repeated: number) => ({
  ...{ tokens: inputTokens + outputTokens + repeated + 1, costUsd: costUsd + repeated + 1 },
  ...(toolCalls === 0 ? {} : { toolCalls }),
})

async function serverOf(program: Program, world: World, storage: ReturnType<typeof createInMemoryStorage>) {
  const onCall = () => void world.asked.push(1)
  const model = scriptedModel(program.answers, { onCall })
  const agent = defineAgent({ id: 'x', run: program.run({ model, tools: toolsOf(world), world }) as never })
  const server = await createServer({
    config: { auth: { kind: 'none' }, models: { prices: { scripted: DOLLAR_PER_TOKEN, 'e-1': DOLLAR_PER_TOKEN } } },
    adapters: { storage, logger: QUIET },
    agents: [agent, ...(program.agents ?? [])],
  })
  await server.start({ listen: false })
  return server
}

const newWorld = (): World => ({ asked: [], executed: [] })

/** What the page shows, without what differs between executions. */
function shown({ run, events }: Awaited<ReturnType<typeof drive>>) {
  const { items } = shownBy({ runId: run.runId, events })
  return items.map((item) => {
    const {
      restarts: _,
      approvalId: __,
      runId: ___,
      messageId: ____,
      ...rest
    } = item as unknown as Record<string, unknown>
    const id = item.kind === 'tool' ? item.id : undefined
    return { ...rest, id }
  })
}

/** How many commits of a program a crash follows; `CRASH_POINTS=all` crashes after each. */
const CRASH_POINTS = process.env.CRASH_POINTS === 'all' ? Number.POSITIVE_INFINITY : 6

/** Commits that are spread over the program, and that differ from program to program. */
function crashPoints(commits: number, index: number): readonly number[] {
  const count = Math.min(commits, CRASH_POINTS)
  const first = (index % 4) / 4
  return Array.from({ length: count }, (_, n) => 1 + Math.floor(((n + first) * commits) / count))
}

/** Crashes after commits of the program, and expects that it continues as if it had not. */
export async function expectSameAfterCrash(program: Program, index: number): Promise<void> {
  const { answers, decision, executions, canRepeat, tokensInTool = 0 } = program
  const uncut = newWorld()
  const whole = cutAfter(createInMemoryStorage(), Number.POSITIVE_INFINITY)
  const server = await serverOf(program, uncut, whole.storage)
  const expected = await drive(server, { decision })
  await server.stop({ force: true })
  expect([expected.run.status, expected.run.error]).toEqual(['completed', undefined])
  expect([uncut.asked.length, uncut.executed.length]).toEqual([answers.length, executions])

  const { usage } = expected.run
  expect([usage.costUsd, expected.costUsdToday]).toEqual(Array(2).fill(usage.inputTokens + usage.outputTokens))
  const driving = { decision, budget: budgetFor(usage, tokensInTool) }

  for (const at of crashPoints(whole.count(), index)) {
    const world = newWorld()
    const storage = createInMemoryStorage()
    const dying = cutAfter(storage, at)
    const first = await Promise.race([serverOf(program, world, dying.storage), dying.isCut])
    if (first !== undefined) void Promise.race([drive(first, driving), dying.isCut]).catch(() => undefined)
    await Promise.race([dying.isCut, new Promise((resolve) => setTimeout(resolve, 2_000))])

    const second = await serverOf(program, world, storage)
    const ended = await drive(second, driving)
    await second.stop({ force: true })
    const context = `cut after commit ${at} of ${whole.count()}`
    expect([ended.run.status, ended.run.error, ended.run.result], context).toEqual([
      'completed',
      undefined,
      expected.run.result,
    ])
    expect(shown(ended), context).toEqual(shown(expected))
    expect(new Set(world.executed).size, context).toBe(executions)
    // Only an answer that was cut off is asked for again.
    expect(world.asked.length - answers.length, context).toBeLessThanOrEqual(1)
    const paidAgain = ended.run.usage.costUsd - usage.costUsd
    expect([0, tokensInTool], context).toContain(paidAgain)
    expect(ended.costUsdToday, context).toBe(ended.run.usage.costUsd)
    if (paidAgain === 0) expect(ended.run.usage, context).toEqual(usage)
    if (canRepeat === true) continue
    expect(world.executed.length, context).toBe(executions)
    const reports = ended.events.filter(({ type }) => type === 'usage').length
    const uncutReports = expected.events.filter(({ type }) => type === 'usage').length
    expect(reports - uncutReports, context).toBeLessThanOrEqual(world.asked.length - answers.length)
  }
}
