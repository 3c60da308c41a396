import { join } from 'node:path'
import { durable } from '@perdure/ai-sdk'
import { scriptedModel } from '@perdure/ai-sdk/testing'
import { createServer, defineAgent } from '@perdure/server-app'
import { streamText } from 'ai'
import { alternate, type Comparison, median } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const MOST = Number(process.env.BENCH_MOST_STEPS ?? 10_000)
const COUNTS = [100, 1_000, 10_000].filter((count) => count <= MOST)
/** So many steps end with step number n; the first ones are the floor. */
const WINDOW = 100
const model = scriptedModel(() => 'one two')
const never = () => new Promise<never>(() => undefined)

type Server = Awaited<ReturnType<typeof createServer>>

async function post(server: Server, path: string, body: unknown): Promise<Response> {
  const accept = path.endsWith('/stream') ? 'text/event-stream' : 'application/json'
  const headers = { 'content-type': 'application/json', accept }
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await server.fetch(new Request(`http://localhost/v1${path}`, init))
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response
}

/** Reads the stream until its text contains this. Resolves with the time at which it did. */
async function readUntil({ body }: Response, wanted: string): Promise<{ readonly at: number; readonly text: string }> {
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.includes(wanted)) return { at: performance.now(), text }
  }
  throw new Error(`the stream ended without ${wanted}: ${text}`)
}

/** The time of each step of the run that executes, and when the latest execution has replayed its steps. */
interface Measured {
  readonly micros: Float64Array
  startedAt: number
  replayedAt: PromiseWithResolvers<number>
}

interface StepsInput {
  readonly count: number
  /** The event for which the run waits after its steps. */
  readonly event: string
  /** Steps that share a commit; 1 when missing. */
  readonly atOnce?: number
}

const agentsOf = (measured: Measured) => [
  defineAgent({
    id: 'steps',
    async run(input, { step, waitForEvent }) {
      const { count, event, atOnce = 1 } = input as StepsInput
      measured.startedAt = performance.now()
      for (let index = 0; index < count; index += atOnce) {
        const before = performance.now()
        await Promise.all(Array.from({ length: atOnce }, () => step('one', () => index)))
        measured.micros[index] = (performance.now() - before) * 1_000
      }
      measured.replayedAt.resolve(performance.now())
      await waitForEvent(event)
    },
  }),
  defineAgent({
    id: 'talk',
    run: async (_, ctx) => ({ text: await durable(ctx).streamText({ model, prompt: 'Hi' }).text }),
  }),
  defineAgent({
    id: 'ask',
    async run(_, { approval, text }) {
      await text('before')
      await approval('go')
      await text('after')
    },
  }),
]

/** The median time of a step among those that end with step number `count`. */
const windowOf = ({ micros }: Measured, count: number): number =>
  median([...micros.subarray(Math.max(0, count - WINDOW), count)])

async function stepTimes(server: Server, measured: Measured, rounds: number): Promise<readonly Comparison[]> {
  const times = COUNTS.map(() => ({ floor: [] as number[], subject: [] as number[] }))
  for (let round = 0; round <= rounds; round++) {
    await post(server, '/agents/steps/run', { input: { count: MOST, event: 'never' } })
    // The first run compiles the code.
    if (round === 0) continue
    for (const [index, count] of COUNTS.entries()) {
      times[index]?.floor.push(windowOf(measured, WINDOW))
      times[index]?.subject.push(windowOf(measured, count))
    }
  }
  return COUNTS.map((count, index) => ({
    ...{ case: 'F20', variant: `step ${count} of a run, against its first ${WINDOW} steps`, unit: 'µs' },
    ...(times[index] ?? { floor: [], subject: [] }),
    ...(count === WINDOW ? {} : { goal: { atMost: 1.1 } }),
  }))
}

/** The time of one recorded step in an execution that replays so many. */
async function replayTime(server: Server, measured: Measured, count: number): Promise<number> {
  const event = `go-${crypto.randomUUID()}`
  await post(server, '/agents/steps/run', { input: { count, event, atOnce: WINDOW } })
  measured.replayedAt = Promise.withResolvers()
  await post(server, `/events/${event}`, {})
  return (((await measured.replayedAt.promise) - measured.startedAt) * 1_000) / count
}

async function firstDelta(server: Server): Promise<number> {
  const before = performance.now()
  return (await readUntil(await post(server, '/agents/talk/stream', {}), 'text.delta')).at - before
}

async function firstDeltaOfSdk(): Promise<number> {
  const before = performance.now()
  for await (const _ of streamText({ model, prompt: 'Hi' }).textStream) return performance.now() - before
  return never()
}

async function approvalToDelta(server: Server): Promise<number> {
  const response = await post(server, '/agents/ask/stream', {})
  const [first, second] = response.body?.tee() ?? []
  if (first === undefined || second === undefined) throw new Error('the run has no stream')
  const { text } = await readUntil(new Response(first), 'approval.requested')
  const approvalId = /"approvalId":"([^"]+)"/.exec(text)?.[1]
  const before = performance.now()
  const after = readUntil(new Response(second), 'after')
  await post(server, `/approvals/${approvalId}/resolve`, { approved: true })
  return (await after).at - before
}

export const stepCosts: BenchCase = {
  id: 'F20',
  title: 'the time of a durable step by its number, of its replay, to the first delta, and from an approval to a delta',
  run: ({ rounds, isQuick }) =>
    inFolder(async (folder) => {
      const micros = new Float64Array(MOST)
      const measured: Measured = { micros, startedAt: 0, replayedAt: Promise.withResolvers() }
      const config = {
        auth: { kind: 'none' },
        log: { level: 'error' },
        storage: { path: join(folder, 'data.db') },
      } as const
      const server = await createServer({ config, agents: agentsOf(measured) })
      await server.start({ listen: false })
      try {
        const rows = [...(await stepTimes(server, measured, isQuick ? 1 : rounds))]
        for (const count of COUNTS.slice(1)) {
          const replay = {
            floor: () => replayTime(server, measured, 100),
            subject: () => replayTime(server, measured, count),
          }
          const variant = `replay of each of ${count} recorded steps, against 100`
          rows.push({ case: 'F20', variant, unit: 'µs', ...(await alternate(rounds, replay)), goal: { atMost: 1.1 } })
        }
        const deltas = { floor: firstDeltaOfSdk, subject: () => firstDelta(server) }
        await alternate(rounds, deltas)
        rows.push({
          case: 'F20',
          variant: 'first delta, against the SDK alone',
          unit: 'ms',
          ...(await alternate(rounds * 4, deltas)),
        })
        const waits: number[] = []
        for (let round = 0; round < rounds * 4; round++) waits.push(await approvalToDelta(server))
        rows.push({ case: 'F20', variant: 'approval to the next delta', unit: 'ms', floor: [], subject: waits })
        return rows
      } finally {
        await server.stop({ force: true })
      }
    }),
}
