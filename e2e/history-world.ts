import { appendFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Call, initOf, type Reply, type World } from '../packages/ai-sdk/src/histories/server-world.fixture.ts'
import type { DurableServer } from './durable-server.ts'
import type { CommitKiller } from './killed-at-commit.ts'
import { bearer } from './perdure-process.ts'

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** How long a commit takes, about. */
const COMMIT_MS = 5
const PATIENCE_MS = 60_000

const ledgerOf = ({ sandbox }: DurableServer) => sandbox.env.E2E_LEDGER ?? ''

/** When the server is killed. */
export interface Killing {
  soon(commits: number): void
  /** Starts the server again if it was killed. */
  revive(): Promise<void>
  /** Takes back a kill that has not happened. Returns how often the server was killed since `soon`. */
  stop(): Promise<number>
}

async function startAfterKill(server: DurableServer): Promise<void> {
  await server.kill('SIGKILL')
  appendFileSync(ledgerOf(server), 'kill\n')
  await server.start()
}

/** Kills the server after about the time that the commits take. */
export function killAtMoments(server: DurableServer): Killing {
  let timer: NodeJS.Timeout | undefined
  let killing: Promise<void> = Promise.resolve()
  let kills = 0
  return {
    soon(commits) {
      timer = setTimeout(() => {
        timer = undefined
        kills++
        killing = startAfterKill(server)
      }, commits * COMMIT_MS)
    },
    revive: async () => undefined,
    async stop() {
      clearTimeout(timer)
      await killing
      const counted = kills
      kills = 0
      return counted
    },
  }
}

/** The database kills the server when it has stored so many commits, before the server knows of the last one. */
export function killAfterCommits(server: DurableServer, killer: CommitKiller): Killing {
  let isArmed = false
  let kills = 0
  const disarm = async () => {
    isArmed = false
    if (!killer.disarm().hasKilled) return
    kills++
    await startAfterKill(server)
  }
  return {
    soon(commits) {
      killer.arm(commits)
      isArmed = true
    },
    async revive() {
      if (isArmed && killer.peek().hasKilled) await disarm()
    },
    async stop() {
      if (isArmed) await disarm()
      const counted = kills
      kills = 0
      return counted
    },
  }
}

/** A server in a process of its own, which is killed. */
export function createHistoryWorld(server: DurableServer, killing: Killing): World & { readonly kills: () => number } {
  const ledger = ledgerOf(server)
  let kills = 0
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

  const until = async (check: () => Promise<boolean>) => {
    for (const end = performance.now() + PATIENCE_MS; !(await check()); await pause(10)) {
      if (performance.now() > end) throw new Error(`nothing has come of it in ${PATIENCE_MS} ms`)
      await killing.revive()
    }
  }

  return {
    kills: () => kills,
    until,
    elapse: pause,
    async call(call) {
      for (const end = performance.now() + PATIENCE_MS; ; ) {
        const reply = await send(call).catch((error: unknown) => error as Error)
        if (!(reply instanceof Error) && !comesLater(reply)) return reply
        if (performance.now() > end) throw new Error(`${call.method} ${call.path} is not answered`, { cause: reply })
        await killing.revive()
        await pause(10)
      }
    },
    killSoon: killing.soon,
    async surviveFromNow() {
      const counted = await killing.stop()
      kills += counted
      return counted
    },
    prompts: () => after('prompt ').map((line) => JSON.parse(line) as readonly string[]),
    effects: () => after('effect '),
    untilHeld: (text) =>
      until(async () => {
        const all = server.ledger()
        return all.lastIndexOf(`held ${text}`) > all.lastIndexOf('kill')
      }),
    release: (text) => writeFileSync(join(dirname(ledger), `released ${text}`), ''),
  }
}
