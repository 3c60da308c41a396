import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, type BenchCluster, LEASE_MS, pause, percentile, withCluster } from '../harness/cluster.ts'
import type { Comparison } from '../harness/rounds.ts'
import type { ServerProcess } from '../harness/server-process.ts'
import { microsNow, TIME_MARK } from '../paced-deltas.ts'
import type { BenchCase, Effort } from './bench-case.ts'

const startThree = async ({ start }: BenchCluster) =>
  (await Promise.all([start(), start(), start()])) as [ServerProcess, ServerProcess, ServerProcess]

/** A row for a time without a floor. */
const timeRow = (name: string, variant: string, ms: number, below: number | undefined, note: string): Comparison => ({
  ...{ case: name, variant, unit: 'ms', floor: [], subject: [ms], note },
  ...(below === undefined ? {} : { goal: { below } }),
})

/** Calls `take` with each event of a session until `stop`. */
async function followSession(server: ServerProcess, headers: BenchCluster['headers'], take: (data: string) => void) {
  const stopping = new AbortController()
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/sessions/bench/events`, {
    headers: { ...headers, Accept: 'text/event-stream' },
    signal: stopping.signal,
  })
  if (response.status !== 200 || response.body === null) throw new Error(`the stream was refused: ${response.status}`)
  const reading = (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data:')) take(line)
    }
  })().catch(() => undefined)
  return {
    ended: reading,
    stop() {
      stopping.abort()
      return reading
    },
  }
}

const EVENTS_PER_SECOND = 50
const TIMES = new RegExp(`${TIME_MARK}(\\d+) `, 'g')

/** Emits events on one server to a reader of the same server and to a reader of another one. */
async function measureStreams(effort: Effort, listen: boolean): Promise<readonly Comparison[]> {
  return withCluster({ env: { PERDURE_STORAGE_LISTEN: String(listen) } }, async (cluster) => {
    const { headers } = cluster
    const [near, far] = await startThree(cluster)
    await ask(near, '/sessions', { headers, method: 'POST', body: { id: 'bench' } })
    const seen = { near: new Map<number, number>(), far: new Map<number, number>() }
    const taker = (times: Map<number, number>) => (line: string) => {
      for (const [, time] of line.matchAll(TIMES)) times.set(Number(time), microsNow())
    }
    const readers = [
      await followSession(near, headers, taker(seen.near)),
      await followSession(far, headers, taker(seen.far)),
    ]
    const emit = (durationMs: number) =>
      ask(near, '/agents/model/run', {
        ...{ headers, method: 'POST' },
        body: { sessionId: 'bench', input: { perSecond: EVENTS_PER_SECOND, durationMs } },
      })
    await emit(2_000)
    for (const times of Object.values(seen)) times.clear()
    const durationMs = effort.isQuick ? 5_000 : 20_000
    await emit(durationMs)
    await pause(1_000)
    for (const reader of readers) await reader.stop()
    const fromEmit = [...seen.far].map(([sentAt, at]) => (at - sentAt) / 1_000)
    const fromCommit = [...seen.far].flatMap(([sentAt, at]) => {
      const committedAt = seen.near.get(sentAt)
      return committedAt === undefined ? [] : [(at - committedAt) / 1_000]
    })
    const expected = (EVENTS_PER_SECOND * durationMs) / 1_000
    if (fromCommit.length !== expected)
      throw new Error(`${fromCommit.length} of ${expected} events arrived at both readers`)
    const how = listen ? 'with LISTEN' : 'without LISTEN'
    const row = (name: string, part: number, below: number | undefined) =>
      timeRow(
        'P6',
        `event of one server at a reader of another, after a reader of the first, ${how}, ${name}`,
        percentile(fromCommit, part),
        below,
        `${expected} events; from the emit: ${percentile(fromEmit, part).toFixed(1)} ms`,
      )
    return [row('p50', 0.5, listen ? 10 : undefined), row('p95', 0.95, listen ? 50 : 120)]
  })
}

export const clusterStreams: BenchCase = {
  id: 'P6',
  title: 'the time until a reader of another server receives an event',
  run: async (effort) => [...(await measureStreams(effort, true)), ...(await measureStreams(effort, false))],
}

/** Ends a server that executes a run, and returns the milliseconds until another server executes it. */
async function measureTakeovers(signal: 'SIGKILL' | 'SIGTERM', samples: number): Promise<readonly number[]> {
  return withCluster({}, async (cluster) => {
    const { headers } = cluster
    const servers: ServerProcess[] = await startThree(cluster)
    const times: number[] = []
    for (let sample = 0; sample < samples; sample++) {
      const [ended, witness] = [servers[sample % 3] as ServerProcess, servers[(sample + 1) % 3] as ServerProcess]
      const runId = (await ask(ended, '/agents/hold/stream', { headers, method: 'POST', body: {} })).body.runId
      const isRunning = async (attempt: number) => {
        const { body } = await ask(witness, `/runs/${runId}`, { headers })
        return body.status === 'running' && Number(body.attempt) >= attempt
      }
      while (!(await isRunning(1))) await pause(10)
      const begunAt = performance.now()
      const ending = ended.stop(signal)
      while (!(await isRunning(2))) await pause(5)
      times.push(performance.now() - begunAt)
      await ending
      await ask(witness, `/runs/${runId}/abort`, { headers, method: 'POST', body: {} })
      servers[sample % 3] = await cluster.start()
      // Only a server whose lease has lasted for a while takes over.
      await pause(LEASE_MS)
    }
    return times
  })
}

export const clusterTakeover: BenchCase = {
  id: 'P7',
  title: 'the time until another server executes the runs of a server that was killed or stopped',
  async run({ isQuick }) {
    const samples = isQuick ? 5 : 20
    const rows: Comparison[] = []
    for (const [signal, variant, below] of [
      ['SIGKILL', `kill to running on another server, lease ${LEASE_MS} ms`, LEASE_MS + 2_000],
      ['SIGTERM', 'SIGTERM to running on another server, 200 ms for runs to end by themselves', 1_000],
    ] as const) {
      const times = await measureTakeovers(signal, samples)
      const note = `${samples} samples; p50 ${percentile(times, 0.5).toFixed(0)}, longest ${Math.max(...times).toFixed(0)} ms`
      rows.push(timeRow('P7', `${variant}, p95`, percentile(times, 0.95), below, note))
    }
    return rows
  },
}

const IDLE_MS = 20_000
const DEFAULT_LEASE = { PERDURE_STORAGE_LEASE_MS: '6000' }

/** The statements per second that each of three idle servers sends, and the texts of the most frequent ones. */
async function measureIdle(isQuick: boolean): Promise<Comparison> {
  return withCluster({ settings: ['log_statement=all'], env: DEFAULT_LEASE }, async (cluster) => {
    const servers = await startThree(cluster)
    await pause(5_000)
    const log = join(cluster.database.socketFolder, 'log')
    const before = readFileSync(log, 'utf8').length
    const ms = isQuick ? IDLE_MS / 4 : IDLE_MS
    await pause(ms)
    const lines = readFileSync(log, 'utf8').slice(before).split('\n')
    const texts = lines.flatMap(
      (line) => /LOG: {2}(?:statement|execute [^:]+): (.*)/.exec(line)?.[1]?.slice(0, 60) ?? [],
    )
    const perSecond = (count: number) => count / (ms / 1_000) / servers.length
    const most = [...Map.groupBy(texts, (text) => text)]
      .map(([text, all]) => [text, perSecond(all.length)] as const)
      .toSorted(([, one], [, other]) => other - one)
    for (const [text, rate] of most) console.error(`${rate.toFixed(2)}/s ${text}`)
    return {
      ...{ case: 'P8', variant: 'idle cluster of three servers, for each server', unit: 'statements/s' },
      ...{ floor: [], subject: [perSecond(texts.length)], goal: { below: 15 } },
    }
  })
}

/** Revokes tokens on one server, and returns the milliseconds until another server refuses them and closes their stream. */
async function measureRevocations(samples: number): Promise<readonly Comparison[]> {
  return withCluster({}, async (cluster) => {
    const { headers } = cluster
    const [near, far] = await startThree(cluster)
    await ask(near, '/sessions', { headers, method: 'POST', body: { id: 'bench' } })
    const times = { refused: [] as number[], closed: [] as number[] }
    for (let sample = 0; sample < samples; sample++) {
      const body = { name: `bench-${sample}`, scopes: ['admin:*'] }
      const minted = (await ask(near, '/tokens', { headers, method: 'POST', body })).body
      const own = { ...headers, Authorization: `Bearer ${minted.token}` }
      const reader = await followSession(far, own, () => undefined)
      await ask(near, `/tokens/${minted.id}`, { headers, method: 'DELETE' })
      const revokedAt = performance.now()
      const closed = reader.ended.then(() => times.closed.push(performance.now() - revokedAt))
      while ((await ask(far, '/tokens/self', { headers: own })).status === 200) await pause(1)
      times.refused.push(performance.now() - revokedAt)
      await closed
      // The refused request must not lock the address out.
      if (sample % 5 === 4) await pause(50)
    }
    const row = (what: string, all: readonly number[]) =>
      timeRow('P8', `revoked token ${what} on another server, p99`, percentile(all, 0.99), 1_000, `${samples} samples`)
    return [row('refused', times.refused), row('loses its stream', times.closed)]
  })
}

export const clusterIdle: BenchCase = {
  id: 'P8',
  title: 'an idle cluster, and the time until every server refuses a revoked token',
  run: async ({ isQuick }) => [await measureIdle(isQuick), ...(await measureRevocations(isQuick ? 20 : 150))],
}
