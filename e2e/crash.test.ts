import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { bearer, createPlace, createToken, type RunningServer, startServer } from './berth-process.ts'
import { createRandom } from './random.ts'

const RUNS = 200
const CLIENTS = 16
const KILLS = 20
const SEED = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000)

interface Answer {
  readonly runId: string
  readonly status: string
  readonly finishReason: string
  readonly result?: unknown
}

describe('a server that is killed', () => {
  it('loses no acknowledged run, runs nothing twice and leaves nothing running', async () => {
    console.log(`seed ${SEED} (set E2E_SEED to repeat)`)
    const random = createRandom(SEED)
    const pause = (minMs: number, maxMs: number) =>
      new Promise((resolve) => setTimeout(resolve, minMs + random() * (maxMs - minMs)))
    const place = createPlace()
    const token = await createToken(place)
    let server: RunningServer = await startServer(place)
    let isOver = false

    /** Every answer that was read whole, by key: retries with one key must always name one run. */
    const answers = new Map<string, Answer[]>()
    const queue = Array.from({ length: RUNS }, (_, n) => n)

    const request = async (key: string, number: number): Promise<Response> =>
      fetch(`${server.url}/agents/ledger/run`, {
        method: 'POST',
        headers: { ...bearer(token), 'idempotency-key': key },
        body: JSON.stringify({ input: { name: key, number, beforeMs: number % 60, afterMs: number % 90 } }),
      })

    const runOnce = async (number: number) => {
      const key = `key-${number}`
      for (;;) {
        try {
          const response = await request(key, number)
          if (response.ok) {
            const answer = (await response.json()) as Answer
            answers.set(key, [...(answers.get(key) ?? []), answer])
            return
          }
          expect([409, 503]).toContain(response.status)
          const { error } = (await response.json()) as { error: string }
          expect(['idempotency-in-flight', 'server-draining']).toContain(error)
        } catch (error) {
          if (!(error instanceof TypeError)) throw error
        }
        await pause(20, 120)
      }
    }

    const client = async () => {
      for (let number = queue.shift(); number !== undefined; number = queue.shift()) {
        await pause(0, 1_600)
        await runOnce(number)
        // Asks again now and then, as a client that never saw the answer would.
        if (random() < 0.3) await runOnce(number)
      }
    }

    const killer = async () => {
      let kills = 0
      while (kills < KILLS && !isOver) {
        await pause(50, 700)
        await server.kill('SIGKILL')
        kills++
        server = await startServer(place)
      }
      return kills
    }

    const clients = Promise.all(Array.from({ length: CLIENTS }, client)).then(() => {
      isOver = true
    })
    let kills = await killer()
    await clients
    const killsAtWork = kills
    for (; kills < KILLS; kills++) {
      await pause(10, 100)
      await server.kill('SIGKILL')
      server = await startServer(place)
    }

    const ledger = existsSync(place.env.E2E_LEDGER ?? '')
      ? readFileSync(place.env.E2E_LEDGER ?? '', 'utf8')
          .trim()
          .split('\n')
      : []
    const linesOf = (key: string) => ledger.filter((line) => line.startsWith(`${key} `))
    const count = { completed: 0, interrupted: 0 }
    for (let number = 0; number < RUNS; number++) {
      const key = `key-${number}`
      const seen = answers.get(key) ?? []
      expect(new Set(seen.map(({ runId }) => runId)).size).toBe(1)
      const [first] = seen
      const stored = (await (
        await fetch(`${server.url}/runs/${first?.runId}`, { headers: bearer(token) })
      ).json()) as Answer
      expect(stored).toMatchObject({ status: first?.status, finishReason: first?.finishReason })
      expect(stored.result).toEqual(first?.result)
      if (first?.status === 'completed') {
        count.completed++
        expect(first.result).toEqual({ name: key, doubled: number * 2 })
        expect(linesOf(key)).toEqual([`${key} ${first.runId} 1`])
      } else {
        count.interrupted++
        expect(first).toMatchObject({ status: 'failed', finishReason: 'interrupted' })
        expect(linesOf(key).length).toBeLessThanOrEqual(1)
      }
    }

    const all: Answer[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const url: string = `${server.url}/runs?limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      const page = (await (await fetch(url, { headers: bearer(token) })).json()) as {
        items: Answer[]
        nextCursor: string | null
      }
      all.push(...page.items)
      cursor = page.nextCursor
    }
    expect(all).toHaveLength(RUNS)
    expect(all.filter(({ status }) => status === 'running' || status === 'queued')).toEqual([])
    console.log(
      `${RUNS} keys, ${KILLS} kills, ${killsAtWork} of them at work: ${count.completed} completed, ${count.interrupted} interrupted`,
    )
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  })
})
