import { describe, expect, it, onTestFinished } from 'vitest'
import { createRandom } from '../packages/testkit/src/random.ts'
import { type Answer, type DurableServer, eventually, type Shown, startDurableServer } from './durable-server.ts'

const KILLS = 16
const LANES = 4
const SEED = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000)
const WORK = ['one', 'two', 'three', 'four', 'five']
const CALLS = ['one', 'two', 'nap', 'three', 'event', 'first', 'four', 'second', 'five']

describe('a workflow whose server is killed at random moments', () => {
  it('does not repeat completed steps and produces the right result', async () => {
    console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
    const random = createRandom(SEED)
    const pause = (minMs: number, maxMs: number) =>
      new Promise((resolve) => setTimeout(resolve, minMs + random() * (maxMs - minMs)))
    const server = await startDurableServer()
    let kills = 0
    let isOver = false
    onTestFinished(() => {
      isOver = true
    })

    /** Repeats a request until the server answers it. */
    const retryUntilAnswered = async <T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> => {
      while (!isOver) {
        try {
          const answer = await ask()
          if (answer.status !== 503) return answer
        } catch (error) {
          if (!(error instanceof TypeError)) throw error
        }
        await pause(5, 30)
      }
      throw new Error('the test is over')
    }

    const runJourney = async (threadId: string): Promise<Journey> => {
      const journey: Journey = { threadId, runId: '', killsBefore: kills, killsAfter: 0, seen: new Map() }
      const event = `event-${threadId}`
      const input = { input: { stepMs: 15, napMs: 40, event }, threadId }
      const started = await retryUntilAnswered(() =>
        server.post('/workflows/journey/execute', input, { 'idempotency-key': threadId }),
      )
      expect(started.status).toBe(202)
      journey.runId = started.body.runId
      for (;;) {
        await pause(5, 40)
        await recordStepRuns(server, journey, retryUntilAnswered)
        const state = await retryUntilAnswered(() => server.get(`/workflows/journey/state?threadId=${threadId}`))
        expect(state.status).toBe(200)
        if (state.body.status === 'completed') break
        expect(['queued', 'running', 'suspended']).toContain(state.body.status)
        for (const { kind, approvalId } of state.body.waitingFor) {
          if (kind === 'event') await retryUntilAnswered(() => server.post(`/events/${event}`, { payload: threadId }))
          if (approvalId === undefined) continue
          const decided = await retryUntilAnswered(() => server.resolve(approvalId, true))
          expect(decided).toMatchObject({ status: 200, body: { status: 'approved', by: 'e2e' } })
        }
      }
      return { ...journey, killsAfter: kills }
    }

    const journeys: Journey[] = []
    const lane = async (lane: number) => {
      for (let trip = 0; kills < KILLS; trip++) journeys.push(await runJourney(`lane-${lane}-${trip}`))
    }
    const lanes = Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
    lanes.catch(() => {
      isOver = true
    })
    for (; kills < KILLS && !isOver; kills++) {
      await pause(0, 450)
      await server.restart()
    }
    await lanes

    const ledger = server.ledger()
    let repeated = 0
    for (const { runId, threadId, seen, killsBefore, killsAfter } of journeys) {
      const ran = (step: string) => ledger.filter((line) => line.startsWith(`did ${threadId} ${step} `))
      for (const step of WORK) {
        const effects = ran(step)
        expect(new Set(effects)).toEqual(new Set([`did ${threadId} ${step} ${runId}.${CALLS.indexOf(step) + 1}`]))
        if (seen.has(step)) expect(effects.length, `${threadId} ${step}`).toBe(seen.get(step))
      }
      const extra = WORK.reduce((sum, step) => sum + ran(step).length - 1, 0)
      expect(extra).toBeLessThanOrEqual(killsAfter - killsBefore)
      repeated += extra
      expect(await server.run(runId)).toMatchObject({
        status: 'completed',
        finishReason: 'completed',
        result: {
          steps: WORK.map((step) => `${step} done`),
          payload: threadId,
          decisions: Array(2).fill({ approved: true, by: 'e2e' }),
        },
      })
      const events = await server.events(runId)
      expect(events.filter(({ type }) => type === 'step.end').map(({ payload }) => payload.step)).toEqual(
        CALLS.map((name) => (name === 'event' ? `event-${threadId}` : name)),
      )
      expect(events.at(-1)?.type).toBe('run.completed')
    }
    await eventually(async () => (await server.itemsOf<Shown>('/runs?status=running')).length).toBe(0)
    console.log(`${KILLS} kills, ${journeys.length} workflows completed, ${repeated} interrupted steps ran again`)
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})

interface Journey {
  readonly threadId: string
  runId: string
  readonly killsBefore: number
  readonly killsAfter: number
  /** How often the step body had run when its end event was first seen. */
  readonly seen: Map<string, number>
}

type RetryUntilAnswered = <T>(ask: () => Promise<Answer<T>>) => Promise<Answer<T>>

async function recordStepRuns(
  server: DurableServer,
  journey: Journey,
  retryUntilAnswered: RetryUntilAnswered,
): Promise<void> {
  const { runId, threadId, seen } = journey
  type Page = { readonly items: Awaited<ReturnType<DurableServer['events']>> }
  const page = await retryUntilAnswered(() => server.get<Page>(`/runs/${runId}/events?limit=200`))
  expect(page.status).toBe(200)
  for (const { type, payload } of page.body.items) {
    if (type !== 'step.end' || payload.step === undefined || seen.has(payload.step)) continue
    const bodies = server.ledger().filter((line) => line.startsWith(`did ${threadId} ${payload.step} `))
    seen.set(payload.step, bodies.length)
  }
}
