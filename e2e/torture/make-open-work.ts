/**
 * Stores what the present release leaves open when it is killed: `node --conditions=perdure-source
 * e2e/torture/make-open-work.ts`, after a build. `e2e/upgrade.test.ts` ends that work with later releases, so the file of
 * an earlier schema is never rewritten. `OPEN_WORK_PER_KIND` and `OPEN_WORK_CHATS` set
 * how much it leaves.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MIGRATIONS } from '../../packages/sqlite/src/migrations/migrations.ts'
import { createCall } from '../durable-server.ts'
import {
  KINDS,
  type LeftWork,
  leftPath,
  NOBODY,
  openWorkFile,
  packFolder,
  SECRETS,
  type Started,
  start,
} from '../open-work.ts'
import { bearer, createSandbox, createToken, removeFolder, startServer } from '../perdure-process.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/open-work.config.mjs')
const PER_KIND = Number(process.env.OPEN_WORK_PER_KIND ?? 72)
const CHATS = Number(process.env.OPEN_WORK_CHATS ?? 32)
const out = openWorkFile(MIGRATIONS.at(-1)?.version ?? 0)
if (existsSync(out)) throw new Error(`${out} exists, and is what a release left`)

const sandbox = createSandbox({ ...SECRETS, E2E_HOOK_URL: NOBODY })
const token = await createToken(sandbox)
const server = await startServer(sandbox, ['server', '--config', CONFIG])
const call = createCall(() => server.url, token)
const untilMs = Date.now() + 60_000

const started: Started[] = []
for (const kind of KINDS) {
  for (let n = 0; n < PER_KIND; n++) {
    const key = `${kind.kind}-${n}`
    started.push({ kind: kind.kind, n, key, runId: await start(call, kind, n, key, untilMs) })
  }
}

const chats: LeftWork['chats'][number][] = []
for (let n = 0; n < CHATS; n++) {
  const id = `chat-${n}`
  for (const text of [`order ${n}`, `thanks for ${n}`]) {
    const messages = [{ id: `${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }]
    const response = await fetch(`${server.url}/agents/chat/chat`, {
      ...{ method: 'POST', headers: bearer(token), body: JSON.stringify({ id, messages }) },
    })
    if (!response.ok) throw new Error(await response.text())
    await pause(20)
    await response.body?.cancel()
  }
  chats.push({ id, text: `order ${n}` })
}
await pause(2_000)

const firsts = KINDS.flatMap(({ kind }) => started.find((one) => one.kind === kind) ?? [])
const followed = await Promise.all(
  firsts.map(async ({ runId }) => {
    const { body } = await call<{ items: { eventId: string }[] }>('GET', `/runs/${runId}/events?limit=1&order=asc`)
    return { runId, lastEventId: String(body.items[0]?.eventId) }
  }),
)
await server.kill('SIGKILL')
writeFileSync(leftPath(sandbox.dir), JSON.stringify({ token, started, chats, followed } satisfies LeftWork))
packFolder(sandbox.dir, out)
removeFolder(sandbox.dir)
process.stdout.write(`${out}\n`)
