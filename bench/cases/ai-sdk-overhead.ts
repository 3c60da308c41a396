import { join } from 'node:path'
import { durable } from '@perdure/ai-sdk'
import { scriptedModel } from '@perdure/ai-sdk/testing'
import { createServer, defineAgent } from '@perdure/server-app'
import { streamText } from 'ai'
import { alternate } from '../harness/rounds.ts'
import { inFolder } from '../harness/server-process.ts'
import type { BenchCase } from './bench-case.ts'

const DELTAS = 2_000
/** Many answers and calls per figure, because a collection of garbage counts where it happens. */
const ANSWERS = 10
const CALLS = 100
/** More than in other cases, because the difference of two figures varies more than each of them. */
const ROUNDS_FACTOR = 2

const long = scriptedModel(() => 'word '.repeat(DELTAS))
const short = scriptedModel(() => 'word')

type Stream = typeof streamText

/**
 * Processor time of all threads of the process: the code, the collector and compiler of V8, and the storage thread with
 * the commits that flush. It ends when the answer is recorded.
 */
async function cpuMicros(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** For each delta of long answers. The call itself is included: it takes about 1 µs of a delta. */
async function microsPerDelta(stream: Stream): Promise<number> {
  const micros = await cpuMicros(async () => {
    for (let answer = 0; answer < ANSWERS; answer++) await stream({ model: long, prompt: 'Hi' }).text
  })
  return micros / ANSWERS / DELTAS
}

/** For each of several answers of one word. */
async function millisPerCall(stream: Stream): Promise<number> {
  const micros = await cpuMicros(async () => {
    for (let call = 0; call < CALLS; call++) await stream({ model: short, prompt: 'Hi' }).text
  })
  return micros / CALLS / 1_000
}

const MEASURES = { 'CPU per delta': microsPerDelta, 'CPU per call': millisPerCall } as const

/** Rounds until the code of both is compiled: V8 compiles the code around a call after some thousand calls. */
const WARM_UP_ROUNDS = { 'CPU per delta': 6, 'CPU per call': 30 } as const

/** What `ai.streamText` costs beyond `streamText`: each delta is an event, and each answer a step, in the database. */
export const aiSdkOverhead: BenchCase = {
  id: 'F19',
  title: 'ai.streamText beside streamText of the AI SDK',
  run: ({ rounds }) =>
    inFolder(async (folder) => {
      let measured = Number.NaN
      const agent = defineAgent({
        id: 'measure',
        run: async (input, ctx) => {
          measured = await MEASURES[input as keyof typeof MEASURES](durable(ctx).streamText)
        },
      })
      const storage = { path: join(folder, 'data.db') }
      const config = { auth: { kind: 'none' }, log: { level: 'error' }, storage } as const
      const server = await createServer({ config, agents: [agent] })
      await server.start({ listen: false })
      const inRun = async (input: keyof typeof MEASURES) => {
        const init = {
          method: 'POST',
          body: JSON.stringify({ input }),
          headers: { 'content-type': 'application/json' },
        }
        const answer = await server.fetch(new Request('http://localhost/v1/agents/measure/run', init))
        const text = await answer.text()
        if (!text.includes('"completed"')) throw new Error(text)
        return measured
      }
      const compare = async (input: keyof typeof MEASURES) => {
        const pair = { floor: () => MEASURES[input](streamText), subject: () => inRun(input) }
        await alternate(WARM_UP_ROUNDS[input], pair)
        return alternate(rounds * ROUNDS_FACTOR, pair)
      }
      try {
        const deltas = await compare('CPU per delta')
        const calls = await compare('CPU per call')
        const more = ({ floor, subject }: typeof deltas) => subject.map((figure, round) => figure - (floor[round] ?? 0))
        return [
          { case: 'F19', variant: 'CPU per delta', unit: 'µs', ...deltas },
          {
            case: 'F19',
            variant: 'CPU per delta, more',
            unit: 'µs',
            floor: [1],
            subject: more(deltas),
            goal: { atMost: 15 },
          },
          { case: 'F19', variant: 'CPU per call', unit: 'ms', ...calls },
          {
            case: 'F19',
            variant: 'CPU per call, more',
            unit: 'ms',
            floor: [1],
            subject: more(calls),
            goal: { atMost: 1 },
          },
        ]
      } finally {
        await server.stop({ force: true })
      }
    }),
}
