import { appendFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Call, initOf, type Reply, type World } from '../packages/ai-sdk/src/histories/server-world.fixture.ts'
import type { DurableServer } from './durable-server.ts'
import { bearer } from './perdure-process.ts'

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** How long a commit takes, about. */
const COMMIT_MS = 5
const PATIENCE_MS = 60_000

/** A server in a process of its own, which is killed. */
export function createHistoryWorld(server: DurableServer): World & { readonly kills: () => number } {
  const ledger = server.sandbox.env.E2E_LEDGER ?? ''
  let timer: NodeJS.Timeout | undefined
  let killing: Promise<void> = Promise.resolve()
  let [kills, killsSoFar] = [0, 0]

  const kill = async () => {
    await server.kill('SIGKILL')
    appendFileSync(ledger, 'kill\n')
    kills++
    await server.start()
  }
  const after = (mark: string) =>
    server.ledger().flatMap((line) => (line.startsWith(mark) ? [line.slice(mark.length)] : []))

  const send = async (call: Call): Promise<Reply> => {
    const { headers, ...init } = initOf(call)
    const response = await fetch(server.url() + call.path, {
      ...init,
      headers: { ...headers, ...bearer(server.token) },
    })
    const runId = response.headers.get('x-perdure-run-id') ?? ''
    if (call.isStream === true && response.ok) {
      await response.body?.cancel().catch(() => undefined)
      return { status: response.status, runId, bytes: new Uint8Array() }
    }
    return { status: response.status, runId, bytes: new Uint8Array(await response.arrayBuffer()) }
  }
  /** The start of the server, or an earlier request with the same key, has not ended. */
  const comesLater = ({ status, bytes }: Reply) =>
    status === 503 || (status === 409 && new TextDecoder().decode(bytes).includes('idempotency-in-flight'))

  return {
    kills: () => killsSoFar + kills,
    patienceMs: PATIENCE_MS,
    pause: () => pause(10),
    async call(call) {
      for (const until = performance.now() + PATIENCE_MS; ; ) {
        const reply = await send(call).catch((error: unknown) => error as Error)
        if (!(reply instanceof Error) && !comesLater(reply)) return reply
        if (performance.now() > until) throw new Error(`${call.method} ${call.path} is not answered`, { cause: reply })
        await pause(10)
      }
    },
    killSoon(commits) {
      timer = setTimeout(() => {
        timer = undefined
        killing = kill()
      }, commits * COMMIT_MS)
    },
    async surviveFromNow() {
      clearTimeout(timer)
      await killing
      const counted = kills
      killsSoFar += kills
      kills = 0
      return counted
    },
    prompts: () => after('prompt ').map((line) => JSON.parse(line) as readonly string[]),
    effects: () => after('effect '),
    async untilHeld(text) {
      const isHeld = () => {
        const all = server.ledger()
        return all.lastIndexOf(`held ${text}`) > all.lastIndexOf('kill')
      }
      for (const until = performance.now() + PATIENCE_MS; !isHeld(); await pause(5)) {
        if (performance.now() > until) throw new Error(`the turn ${text} does not begin`)
      }
    },
    release: (text) => writeFileSync(join(dirname(ledger), `released ${text}`), ''),
  }
}
